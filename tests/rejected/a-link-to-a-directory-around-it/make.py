"""A link that would never come to an end."""

import os

os.symlink(".", "src/all")
