"""What a run predicts about its job in SageMaker: start, disk, and throughput in each input mode, in ranges."""
