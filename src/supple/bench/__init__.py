"""Benchmarks that print their accuracy beside their time."""
