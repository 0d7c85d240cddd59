"""Where a job writes: OutputDataConfig, CheckpointConfig, TensorBoardOutputConfig."""
