"""Studies: one computation for many robots, on all cores or a cluster, as one labeled dataset."""
