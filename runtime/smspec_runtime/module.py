"""Calls ``package.module:function`` with the job, or ``--without-job``."""

import sys
from importlib import import_module
from operator import attrgetter

from .lean_typing import Any, List


def load(name: str) -> Any:
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise SystemExit(f"`{name}` cannot be called: it must be `package.module:name`")
    return attrgetter(attribute)(import_module(module))


def main(arguments: List[str]) -> int:
    wants_job = arguments[0] != "--without-job"
    target, *rest = arguments if wants_job else arguments[1:]
    function = load(target)
    sys.argv = [target.partition(":")[0], *rest]
    if wants_job:
        from . import job

        function(job())
        return 0
    try:
        function()
    except OSError as error:
        sys.excepthook(OSError, error, error.__traceback__)
        return error.errno or 1  # As SageMaker's toolkit does.
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
