"""Where a job writes: OutputDataConfig, CheckpointConfig, and TensorBoardOutputConfig."""
