"""A module that people keep on their own machine."""

import os

os.symlink("local.py", "src/config.py")
