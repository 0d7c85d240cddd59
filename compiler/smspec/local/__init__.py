"""Runs a job here, with the generated files: hosts as processes, channels laid out or fed, results collected."""
