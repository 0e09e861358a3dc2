"""Time schemes, step control, compiled loops."""
