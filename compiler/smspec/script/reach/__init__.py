"""What every run of a script imports, and whether the Python of its image accepts the text."""
