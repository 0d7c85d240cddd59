"""Run many programs in forked processes of one Python.

As a script: reads ``{"programs": {name: text}, "words": [...]}``, and prints what each ended with, as JSON.
"""

import argparse  # noqa: F401  # for the forks: most programs import it
import gc
import json
import os
import shutil  # noqa: F401  # each parser imports it when it is made, and with it three modules of compression
import subprocess
import sys
import types


def statuses(programs, words, environment):
    """Return the exit status of each program by name; ``environment``: additional variables."""
    done = subprocess.run(
        [sys.executable, __file__],
        input=json.dumps({"programs": programs, "words": words}),
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


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
    gc.freeze()  # what is here already is not searched again, and so not copied, in each process
    text = _run(given)
    if text is not None:  # Outside of any function: what ends the program ends this process as it would end Python.
        sys.argv = ["train.py", *given["words"]]
        os.dup2(os.open(os.devnull, os.O_RDWR), 1)
        os.dup2(1, 2)
        module = sys.modules["__main__"] = types.ModuleType("__main__")
        exec(compile(text, "train.py", "exec"), module.__dict__)
