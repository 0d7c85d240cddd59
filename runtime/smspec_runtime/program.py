"""The author's program: what kind of thing it is, what must be done before it can run, how it is started."""

import os
import stat

from .lean_typing import List, NamedTuple
from .refusal import Refused
from .run_plan import RunPlan


class Program(NamedTuple):
    """``kind``: python, package, executable, command or module. ``words`` start it without a launcher.

    ``python_words``: what an interpreter, or a launcher that starts interpreters, is given; empty if it is no Python.
    """

    kind: str
    words: List[str]
    python_words: List[str] = []


def find_program(plan: RunPlan, code: str, python: str) -> Program:
    """Decide what kind of program the plan names. Look at the code directory, so call it when the code is there."""
    if plan.kind == "command":
        return Program("command", list(plan.command))
    if plan.kind == "pipe_loop":
        return _module(python, ["smspec_runtime.pipe.loop", plan.program])
    if plan.kind == "module":
        return _module(python, ["smspec_runtime.module", plan.program])
    if plan.kind == "framework":
        return _module(python, ["smspec_runtime.module", "--without-job", plan.program])
    if plan.kind != "script":
        raise Refused(f"run_plan.json: no such kind of entry point: `{plan.kind}`")
    return _script(plan.program, code, python)


def make_executable(program: Program, code: str) -> None:
    """Let everybody run the script who may read it. S3 does not keep the permission, and the image may be read-only."""
    if program.kind != "executable":
        return
    path = os.path.join(code, program.words[0])
    try:
        mode = stat.S_IMODE(os.stat(path).st_mode)
        if not mode & 0o100:
            os.chmod(path, mode | (mode & 0o444) >> 2)
    except OSError:
        pass  # If it cannot be run, starting it says so.


def _module(python: str, words: List[str]) -> Program:
    return Program("module", [python, "-m", *words], ["-m", *words])


def _script(name: str, code: str, python: str) -> Program:
    _check_name(name, code)
    if name.endswith(".sh"):
        return Program("executable", ["./" + name])
    if os.path.isfile(os.path.join(code, "setup.py")):
        module = (name[: -len(".py")] if name.endswith(".py") else name).replace("/", ".")
        return Program("package", [python, "-m", module])
    if name.endswith(".py"):
        return Program("python", [python, "--", name], [name])
    return Program("executable", ["./" + name])


def _check_name(name: str, code: str) -> None:
    help_text = "name a file of the source directory by its path in it, such as `train.py` or `bin/train.sh`"
    if not name:
        raise Refused("no entry point: neither SAGEMAKER_PROGRAM nor sagemaker_program names one; " + help_text)
    # A plain relative path: nothing that an interpreter reads as an option, nothing outside the code directory.
    is_plain = name.isascii() and all(character.isalnum() or character in "._+-/" for character in name)
    if not is_plain or name[0] in "+-" or {"", ".", ".."} & set(name.split("/")):
        raise Refused(f"`{name}` cannot be an entry point; {help_text}")
    root = os.path.realpath(code)
    if not os.path.realpath(os.path.join(root, name)).startswith(root + os.sep):
        raise Refused(f"the entry point `{name}` lies outside of {code}; {help_text}")
