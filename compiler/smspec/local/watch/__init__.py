"""What a run sees of its hosts while they run: processes and memory, files, logs, and metrics in them.

A watch looks or listens, and reports what it has seen; only `memory_watch` acts, as the kernel of an instance does when
memory runs out. What is made of it for people is in `record`.
"""
