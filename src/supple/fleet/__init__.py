"""Many robots of one structure at once: on all cores, or side by side on one device."""
