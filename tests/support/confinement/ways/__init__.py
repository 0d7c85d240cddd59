"""Ways out of a confined process: a package of the standard library. Each raises OSError if the system refuses it.

``python -m ways`` reads the world from the variable WORLD, tries every way in a process of its own, and prints the
names of those that succeed, as JSON. With arguments, it tries only those.
"""

from . import files, mounts, processes, sockets, system
from .trying import OF_THE_MACHINE, WAYS, WORLD, call, tried

__all__ = ["OF_THE_MACHINE", "WAYS", "WORLD", "call", "files", "mounts", "processes", "sockets", "system", "tried"]
