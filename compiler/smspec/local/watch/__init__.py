"""What a run sees of its hosts while they run: processes and memory, files, logs, and metrics in them."""
