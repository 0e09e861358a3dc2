"""What users call: equilibrium, simulate, modes, linearize."""
