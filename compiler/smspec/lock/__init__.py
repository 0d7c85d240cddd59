"""Making the lock of a repository: the one part of the compiler that asks a registry."""
