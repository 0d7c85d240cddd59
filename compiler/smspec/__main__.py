"""``python -m smspec`` is the command ``smspec``."""

import sys

from smspec.cli import main

if __name__ == "__main__":
    sys.exit(main())
