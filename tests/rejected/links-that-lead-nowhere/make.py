"""Links that would break whatever walks through this repository."""

import os

os.symlink("renamed.py", "src/missing.py")
os.symlink("loop", "src/loop")
