"""Namespaces: hosts as processes, each with its own root, network, and first process.

A `NamespaceEngine` writes a plan and starts the cell, a standalone program in `cell`, which enters a user namespace and
starts the hosts in it. A `CellProcess` sends it commands as lines on stdin, whose end ends every host, and reads events
as lines of JSON. Neither root nor a container engine is needed, only a kernel that allows user namespaces; where it
does not, `smspec run` says why and takes a different engine.
"""
