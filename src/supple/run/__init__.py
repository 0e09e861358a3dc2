"""What users call: equilibrium, simulate, modes, linearise."""
