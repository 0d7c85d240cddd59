"""Parse YAML 1.2 files into trees that keep positions, with limits on size and on surprising syntax."""
