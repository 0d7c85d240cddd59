"""Run pip with the environment markers of another machine: a standalone program, ``pip_program.py MARKERS WORD…``.

``--python-version`` and ``--platform`` select files; markers such as ``python_version < "3.9"`` are still evaluated
for the Python that runs pip.
"""

import json
import sys


def main(markers: "dict[str, str]", words: "list[str]") -> int:
    from pip._vendor.packaging import markers as module  # as pip itself does

    vars(module)["default_environment"] = lambda: dict(markers)
    from pip._internal.cli.main import main as pip

    status: int = pip(words)
    return status


if __name__ == "__main__":
    del sys.path[0]  # the directory of this file, which has a module named pip
    sys.exit(main(json.loads(sys.argv[1]), sys.argv[2:]))
