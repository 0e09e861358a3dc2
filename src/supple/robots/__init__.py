"""The catalogue: the robots of the documents and of the examples, each as a short builder.

One topic a file; import what you need, ``from supple.robots.cantilever import soft_cantilever``:

* ``cantilever``: ``soft_cantilever``, ``stiff_cantilever`` (000 §3.9.1)
* ``flying_rod``: ``soft_flying_rod``, ``stiff_flying_rod`` (000 §3.9.1)
* ``rolled_beam``: ``rolled_beam`` (001, tests 1 and 4)
* ``follower``: ``follower_beam`` (001, test 2)
* ``string_pendulum``: ``string_pendulum`` (001, test 5)
* ``muscle_beam``: ``muscle_beam`` (001, test 6)
* ``rfrfr``: ``rfrfr`` (000 §5.13)
* ``rfrfr_prototype``: ``rfrfr_prototype`` (000 §4.9.2)
* ``tendon_cpr``: ``tendon_cpr`` (000 §4.9.1)
* ``stewart``: ``stewart_gough`` (002 §5.1)
* ``delta``: ``delta`` (flexible links; loops that close in the middle of rods)
* ``flexion_torsion``: ``flexion_torsion`` (001, test 3)
* ``two_drones``: ``two_drones`` (000 §3.9.2)
* ``clamped_rod``: ``loaded_rod``, ``struck_rod`` (002 §4)
* ``four_tendons``: ``four_tendon_robot``, ``helical_tendon_robot`` (002 §5.2)
* ``single_tendon_arm``: ``single_tendon_arm`` (002 §5.2.1)
* ``fluidic_finger``: ``fluidic_finger`` (002 §5.3.3)
* ``tendon_arm``: ``tendon_arm`` (two sections, driven by tendon lengths, with a tool)
* ``section_arm``: ``section_arm`` (three sections with four cables each, a weight at the tip)
* ``bird_neck``: ``bird_neck`` (003)
* ``tentacle``: ``tentacle`` (the demo: a tapered soft arm on a turntable, three tendons)
* ``feeler_arm``: ``feeler_arm`` (hinges, a flexible arm, a hand with two feelers)
"""
