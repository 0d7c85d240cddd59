"""Start the cell from any directory: ``python -I -S CELL/__main__.py probe``, or ``… run PLAN``."""

import importlib
import os
import sys


def main() -> None:
    """Import the package of this file by its own name, whatever is installed, and run it."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path.append(os.path.dirname(here))
    importlib.import_module(f"{os.path.basename(here)}.program").main(sys.argv[1:])


if __name__ == "__main__":
    main()
