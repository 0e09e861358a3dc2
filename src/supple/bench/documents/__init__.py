"""What the five documents print, beside what Supple finds: ``supple bench documents``.

``inventory`` reads the rows (one YAML file a document), ``sources`` finds our number for each, ``quick`` and
``long`` compute what no robot's description tells, ``page`` writes docs/systems.md.
"""
