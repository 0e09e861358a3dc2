"""Kinematics, balance, its tangent, and what follows from them."""
