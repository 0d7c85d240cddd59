"""git holds no FIFOs."""

import os

os.mkfifo("src/pipe")
