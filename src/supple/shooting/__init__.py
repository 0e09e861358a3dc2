"""The strong form: implicit in time, a boundary-value problem along rods at each instant (002)."""
