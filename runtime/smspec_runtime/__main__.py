"""``python -m smspec_runtime train``: replaces the toolkit's `train`."""

import sys

if sys.version_info < (3, 8):
    from .old_python import refuse

    refuse()

from .early_signals import hold_early_signals

if __name__ == "__main__":
    hold_early_signals()
    from .main import end, main

    end(main(sys.argv[1:]))
