"""Between mechanics and solvers: a robot's linear systems by structure, its equations, its start."""
