"""The immutable model and its parts."""
