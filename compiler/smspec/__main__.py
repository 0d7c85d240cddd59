"""``python -m smspec`` is the command ``smspec``.

Before any of this runs, Python itself has imported `runpy`, and with it modules of the current directory with names of
the standard library. Only ``-I`` and ``-P`` prevent that, or the script ``smspec``.
"""

import sys

if __name__ == "__main__":
    # `-m` puts the current directory first, and a repository of others may hold a `copy.py` that would run here.
    if not (sys.flags.isolated or getattr(sys.flags, "safe_path", False)):
        del sys.path[0]

    from smspec.cli import run_process

    run_process()
