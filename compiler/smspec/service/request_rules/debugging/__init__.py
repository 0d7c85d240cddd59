"""The debugger and the profiler."""
