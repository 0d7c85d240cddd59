"""Directories as a program makes them that joins a path to itself."""

import os

os.makedirs("src/" + "data/" * 101)
