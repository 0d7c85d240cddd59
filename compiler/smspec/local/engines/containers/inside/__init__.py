"""Programs that run in containers, on the Python of an image: standard library and Python 3.8 only.

They arrive as text after ``python3 -c``, so they need no file in the container, and import nothing of each other.
"""

from __future__ import annotations

import os

_DIRECTORY = os.path.dirname(os.path.abspath(__file__))


def inside_words(program: str, *arguments: str) -> list[str]:
    """Return the words after the name of an image, or of a container, that run a program of this directory."""
    with open(os.path.join(_DIRECTORY, f"{program}.py"), encoding="utf-8") as file:
        return ["-I", "-S", "-c", file.read(), *arguments]
