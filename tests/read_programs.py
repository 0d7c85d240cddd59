"""Programs of tests: read as the compiler reads them, and run for real with the command line that a job would make."""

from __future__ import annotations

import contextlib
import io
import sys
import types

import job_samples
from smspec.plan.planning import make_plan
from smspec.plan.surroundings import plan_surroundings
from smspec.rules.script import script_findings
from smspec.script.reading import read_script
from smspec.source import SourceText


def program(text, **beside):
    """Return what a script says; ``beside`` are modules in its directory."""
    texts = {name: SourceText(f"src/{name}.py", content) for name, content in beside.items()}
    return read_script(SourceText("src/train.py", text), texts.get)


def surroundings(**changes):
    """Return what a plain job, with keys of its spec replaced, gives its program."""
    job = job_samples.job(**changes)
    return plan_surroundings(job, make_plan(job, job_samples.ingredients()).request)


def findings(text, beside=None, **changes):
    """Return what would go wrong between a script and a plain job with keys of its spec replaced."""
    read = program(text, **(beside or {}))
    given = surroundings(**changes)
    return [] if read is None or given is None else script_findings(read, given)


def codes(text, beside=None, **changes):
    """Return [(code, path)] of the findings, in their order."""
    return [(found.code, ".".join(map(str, found.path))) for found in findings(text, beside, **changes)]


def runs(text, words):
    """Run a script in this process with a command line; return None when it ends well, else what it said."""
    module = types.ModuleType("__main__")
    module.__file__ = "train.py"
    argv, main = sys.argv, sys.modules["__main__"]
    sys.argv = ["train.py", *words]
    sys.modules["__main__"] = module
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            exec(compile(text, "train.py", "exec"), module.__dict__)
    except SystemExit as ended:
        return None if ended.code in (None, 0) else said.getvalue() or str(ended.code)
    except Exception as fault:  # the program's own end
        return repr(fault)
    finally:
        sys.modules["__main__"] = main
        sys.argv = argv
    return None
