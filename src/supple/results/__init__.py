"""Trajectories and what follows from them."""
