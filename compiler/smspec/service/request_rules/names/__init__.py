"""Tags, environment variables, and experiments."""
