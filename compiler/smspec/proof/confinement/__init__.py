"""Run a command that can change few directories, and reach neither network nor other processes.

A standalone program of the standard library. `program` tries what the system supports: a tree of mounts in namespaces
of its own (`tree`), Landlock, and a filter of system calls (both in `rights`). `kernel` is that of `smspec run`.
"""
