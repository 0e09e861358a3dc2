"""Newton, equilibria, modes."""
