"""Locations that must agree: regions and partitions of ARNs and images."""
