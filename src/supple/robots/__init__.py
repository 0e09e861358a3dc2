"""The catalogue: the robots of the documents and of the examples, each as a short builder.

One topic a file; import what you need, ``from supple.robots.cantilever import soft_cantilever``:

* ``cantilever``: ``soft_cantilever``, ``stiff_cantilever`` (000 §3.9.1)
* ``flying_rod``: ``soft_flying_rod``, ``stiff_flying_rod`` (000 §3.9.1)
* ``rolled_beam``: ``rolled_beam`` (001, tests 1 and 4)
* ``follower``: ``follower_beam`` (001, test 2)
* ``string_pendulum``: ``string_pendulum`` (001, test 5)
* ``muscle_beam``: ``muscle_beam`` (001, test 6)
* ``feeler_arm``: ``feeler_arm`` (the demo: hinges, a flexible arm, a hand with two feelers)
"""
