"""Stands for a package that loads a library of the system."""

import mmap
import os
import tempfile

path = os.path.join(tempfile.gettempdir(), "libgomp.so.1")
with open(path, "wb") as file:
    file.write(b"library")
with open(path, "rb") as file:
    LIBRARY = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
