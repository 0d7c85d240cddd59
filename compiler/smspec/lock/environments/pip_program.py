"""Run pip with the environment markers of another machine: a standalone program, ``pip_program.py MARKERS WORD…``.

``--python-version`` and ``--platform`` select files; markers such as ``python_version < "3.9"`` are still evaluated
for the Python that runs pip. Hashes select among files, but dependencies need none.
"""

import json
import sys
from typing import Any


def main(markers: "dict[str, str]", words: "list[str]") -> int:
    from pip._vendor.packaging import markers as module  # as pip itself does

    vars(module)["default_environment"] = lambda: dict(markers)
    from pip._internal.cli import req_command
    from pip._internal.cli.main import main as pip

    command = vars(req_command)["RequirementCommand"]
    read = command.get_requirements

    def read_without_hash_mode(self: "Any", args: "Any", options: "Any", *others: "Any") -> "Any":
        found = read(self, args, options, *others)
        options.require_hashes = False
        return found

    command.get_requirements = read_without_hash_mode

    status: int = pip(words)
    return status


if __name__ == "__main__":
    del sys.path[0]  # the directory of this file, which has a module named pip
    sys.exit(main(json.loads(sys.argv[1]), sys.argv[2:]))
