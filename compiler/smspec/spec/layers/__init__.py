"""Merging of base specs, the job's own file, an overlay, and variable values into one spec."""
