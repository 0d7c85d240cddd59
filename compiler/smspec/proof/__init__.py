"""The proof of a job on this machine: its script compiled, imported, and parsed by the Python of its image.

It runs code of the author, in processes that can write nowhere else and reach no network where the system supports it.
"""
