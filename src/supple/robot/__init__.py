"""What users write: items, joints, loads, robots."""
