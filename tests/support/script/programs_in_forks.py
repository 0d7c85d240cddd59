"""Run many programs in forked processes of one Python.

As a script: reads ``{"programs": {name: text}, "words": [...], "library": name}``, and prints what each ended with, as
JSON.
"""

import argparse  # noqa: F401  # for the forks: most programs import it
import gc
import importlib
import json
import os
import re
import shutil  # noqa: F401  # each parser imports it when it is made, and with it three modules of compression
import subprocess
import sys
import types
from importlib.util import find_spec

LIBRARIES = {"absl": "absl.flags", "click": "click", "jsonargparse": "jsonargparse", "typer": "typer"}
"""What is imported once for all programs that import it, and for no other."""
LATE = {"typer": ["typer._adapters"]}
"""What a library imports when it is first called, in some of its versions: half a second each time, here pydantic."""


def statuses(programs, words, environment):
    """Return the exit status of each program by name; ``environment``: additional variables."""
    by_library = {}
    for name, text in programs.items():
        used = re.search(rf"^ *(?:import|from) ({'|'.join(LIBRARIES)})\b", text, re.MULTILINE)
        by_library.setdefault(used and LIBRARIES[used[1]], {})[name] = text
    ended = {}
    for library, some in by_library.items():
        done = subprocess.run(
            [sys.executable, __file__],
            input=json.dumps({"programs": some, "words": words, "library": library}),
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=True,
        )
        ended |= json.loads(done.stdout.splitlines()[-1])
    return ended


def _run(given):
    ended = {}
    for name, text in given["programs"].items():
        child = os.fork()
        if not child:
            return text
        ended[name] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(json.dumps(ended))
    return None


if __name__ == "__main__":
    given = json.load(sys.stdin)
    if given["library"]:
        importlib.import_module(given["library"])
        for late in filter(find_spec, LATE.get(given["library"], ())):
            importlib.import_module(late)
    gc.freeze()  # what is here already is not searched again, and so not copied, in each process
    text = _run(given)
    if text is not None:  # Outside of any function: what ends the program ends this process as it would end Python.
        sys.argv = ["train.py", *given["words"]]
        os.dup2(os.open(os.devnull, os.O_RDWR), 1)
        os.dup2(1, 2)
        module = sys.modules["__main__"] = types.ModuleType("__main__")
        exec(compile(text, "train.py", "exec"), module.__dict__)
