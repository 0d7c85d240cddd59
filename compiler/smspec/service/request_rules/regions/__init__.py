"""Places that have to agree: regions and partitions of ARNs and images."""
