"""AlgorithmSpecification: the image, its command, and its metrics."""
