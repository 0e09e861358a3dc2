"""The strong-form formulation: implicit in time, a boundary-value problem along the rods at each instant (002)."""
