"""Run a job on this machine with the generated files: hosts as processes, channels copied or fed, results collected."""
