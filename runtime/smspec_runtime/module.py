"""Calls ``package.module:function`` with the job, after ``--without-job`` with nothing."""

import importlib
import sys

from .lean_typing import List


def main(arguments: List[str]) -> int:
    wants_job = arguments[0] != "--without-job"
    target, *rest = arguments if wants_job else arguments[1:]
    module, _, name = target.partition(":")
    if not module or not name:
        raise SystemExit(f"`{target}` does not name a function: write package.module:function")
    function = getattr(importlib.import_module(module), name)
    sys.argv = [module, *rest]  # As if it were a script.
    if wants_job:
        from . import job

        function(job())
        return 0
    try:
        function()
    except OSError as error:
        sys.excepthook(OSError, error, error.__traceback__)
        return error.errno or 1  # As with SageMaker's own toolkit.
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
