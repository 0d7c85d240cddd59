"""The cell: a program that gives every host namespaces of its own; CPython alone, started with ``python -I -S``.

It imports everything before it starts a host: inside one, the files of this Python may be hidden.
"""
