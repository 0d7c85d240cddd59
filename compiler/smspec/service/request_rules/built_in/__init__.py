"""Rules about the built-in algorithms: channels, data, instances, and hyperparameters."""
