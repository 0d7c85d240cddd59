"""The author's program: its kind, its needs, its command."""

import os
import stat
import sys

from .lean_typing import Callable, Environ, List, NamedTuple, Tuple
from .log import log
from .outcome import Outcome
from .refusal import Refused
from .run_plan import RunPlan

PYTHON = sys.executable or "python3"
REQUIREMENTS = "requirements.txt"
_HELP = "name a file of the source directory by its path in it, such as `train.py` or `bin/train.sh`"


class Program(NamedTuple):
    """``kind``: python, package, executable, command or module. ``words`` start it without a launcher.
    ``python_words``: the arguments of an interpreter; empty if not Python."""

    kind: str
    words: List[str]
    python_words: List[str] = []


def find_program(plan: RunPlan, code: str) -> Program:
    """After the delivery of the code."""
    name = plan.program
    modules = {"module": "module", "framework": "module --without-job", "pipe_loop": "pipe.loop"}
    if plan.kind in modules:
        words = ["-m", *f"smspec_runtime.{modules[plan.kind]}".split(), name]
        return Program("module", [PYTHON, *words], words)
    if plan.kind == "command":
        return Program("command", list(plan.command))
    if plan.kind != "script":
        raise Refused(f"run_plan.json: no such kind of entry point: `{plan.kind}`")
    _check_name(name, code)
    if not name.endswith(".sh"):
        stem = name[:-3] if name.endswith(".py") else name
        if os.path.isfile(f"{code}/setup.py"):
            return Program("package", [PYTHON, "-m", stem.replace("/", ".")])
        if stem != name:
            return Program("python", [PYTHON, "--", name], [name])
    return Program("executable", ["./" + name])


def install(
    program: Program, code: str, environ: Environ, run: Callable[..., Outcome]
) -> Tuple[Outcome, List[str], str]:
    """The outcome of pip, its words, and a title."""
    is_package = program.kind == "package"
    wanted = ["."] * is_package
    # Debian leaves its Python to apt. Since Python 3.11 pip ignores the author's json.py.
    variables = {"PIP_BREAK_SYSTEM_PACKAGES": "1", **environ, "PYTHONSAFEPATH": "1"}
    if os.path.isfile(f"{code}/{REQUIREMENTS}"):
        wanted += ["-r", REQUIREMENTS]
        if environ.get("CA_REPOSITORY_ARN"):
            from .aws import package_index

            # Not an option: command lines are public, and it has a token.
            variables["PIP_INDEX_URL"] = package_index(environ["CA_REPOSITORY_ARN"])
    if not wanted:
        return Outcome(0), [], ""
    words = [PYTHON, "-m", "pip", "install", *wanted]
    log("installing: " + " ".join(words))
    return run(words, variables, code), words, f"Install{'Module' if is_package else 'Requirements'}Error"


def make_executable(program: Program, code: str) -> None:
    """S3 and Windows store no mode: allow execution where reading is allowed."""
    name = program.words[0]
    if program.kind not in ("executable", "command") or os.path.isabs(name) or "/" not in name:
        return
    path = os.path.join(code, name)
    try:
        mode = stat.S_IMODE(os.stat(path).st_mode)
        if not mode & 0o100:
            os.chmod(path, mode | (mode & 0o444) >> 2)
    except OSError:
        pass  # Its start will fail.


def _check_name(name: str, code: str) -> None:
    if not name:
        raise Refused(f"no entry point: neither SAGEMAKER_PROGRAM nor sagemaker_program names one; {_HELP}")
    # No option of an interpreter, no path elsewhere.
    is_plain = name.isascii() and all(character.isalnum() or character in "._+-/" for character in name)
    if not is_plain or name[0] in "+-" or {"", ".", ".."} & set(name.split("/")):
        raise Refused(f"`{name}` cannot be an entry point; {_HELP}")
    root = os.path.realpath(code)
    if not os.path.realpath(os.path.join(root, name)).startswith(root + os.sep):
        raise Refused(f"the entry point `{name}` lies outside of {code}; {_HELP}")
