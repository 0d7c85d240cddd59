"""Programs that hosts of a cell find as ``ssh`` and ``sshd``, for the standard library of Python 3.8.

A real sshd drops every connection where a user namespace has one user. These pass a command and its three streams
through a socket in a directory that all hosts share; the path of a socket crosses networks.
"""

from __future__ import annotations

import os

DOORS = "/run/smspec/doors"
"""The directory that all hosts share."""


def program(name: str, python: str) -> str:
    """Return the text of a program that runs on ``python``."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), f"{name}.py"), encoding="utf-8") as file:
        return f"#!{python} -IS\n{file.read()}"
