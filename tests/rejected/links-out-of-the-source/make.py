"""A module that two jobs share, and a file of the machine."""

import os

os.symlink("/etc/hosts", "src/hosts")
os.symlink("../common/losses.py", "src/losses.py")
