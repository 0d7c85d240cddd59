"""InputDataConfig: the channels and what they read."""
