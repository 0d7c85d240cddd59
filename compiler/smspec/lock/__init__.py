"""Make the lock of a repository: the only package of the compiler that contacts a registry."""
