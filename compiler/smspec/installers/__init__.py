"""The settings of pip and uv, for the packages that a run installs, and for those that a lock resolves."""
