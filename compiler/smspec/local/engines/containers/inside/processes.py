"""Print the processes of a container as JSON, or with a number kill one: ``processes.py [NUMBER]``.

Bytes are text in Latin-1. This program is not among the processes.
"""

import json
import os
import signal
import sys
from typing import Dict, List


def main(arguments: List[str]) -> None:
    if arguments:
        os.kill(int(arguments[0]), signal.SIGKILL)
    else:
        json.dump(_found(), sys.stdout)


def _found() -> Dict[str, Dict[str, str]]:
    found = {}
    for number in os.listdir("/proc"):
        if number.isdigit() and int(number) != os.getpid():
            try:
                found[number] = {name: _read(number, name) for name in ("stat", "cmdline", "environ")}
            except OSError:
                pass  # it has ended
    return found


def _read(number: str, name: str) -> str:
    with open("/proc/{}/{}".format(number, name), "rb") as file:
        return file.read().decode("latin-1")


if __name__ == "__main__":
    main(sys.argv[1:])
