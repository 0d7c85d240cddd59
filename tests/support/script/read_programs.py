"""Read programs as the compiler does, and run them with the command line of a job."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import types

from smspec.pipeline.script_reading import Started, confirmed, read_handler, read_program, read_script
from smspec.plan.request_planning import make_plan
from smspec.plan.script_environment import plan_script_environment
from smspec.rules.script import script_findings
from smspec.rules.source import source_text_findings
from smspec.script.script_files import ScriptUnreadable
from smspec.source import ListedFile, Listing, SourceText
from support.spec import job_samples


class InMemory:
    """Modules by their full names."""

    searches = False

    def __init__(self, texts):
        self.module = texts.get

    def elsewhere(self, name):
        return None

    def lacks_files(self, text):
        return False


def program(text, handler=None, /, **beside):
    """Return what a script says, or a module whose ``handler`` is called; None where it cannot be followed.

    ``beside`` are modules in its directory.
    """
    texts = InMemory({name: SourceText(f"src/{name}.py", content) for name, content in beside.items()})
    own = SourceText("src/train.py", text)
    try:
        if handler is not None:
            return read_handler(own, "train", handler, texts)
        return confirmed(read_script(own, texts), [text, *beside.values()])
    except ScriptUnreadable:
        return None


def script_environment(**changes):
    """Return what a plain job, with keys of its spec replaced, gives its program."""
    job = job_samples.job(**changes)
    return plan_script_environment(job, make_plan(job, job_samples.build_inputs()).request)


def findings(text, beside=None, **changes):
    """Return what would go wrong between a program and a plain job with keys of its spec replaced."""
    entry = changes.get("entry_point")
    function = (entry.get("pipe_loop") or entry.get("module")) if isinstance(entry, dict) else None
    read = program(text, function and function.partition(":")[2], **(beside or {}))
    texts = (SourceText("src/train.py", text),)
    texts += tuple(SourceText(f"src/{name}.py", content) for name, content in (beside or {}).items())
    about_texts = source_text_findings(job_samples.job(**changes), texts)
    return [*([] if read is None else script_findings(read, script_environment(**changes))), *about_texts]


def directory_findings(directory, **changes):
    """Return what would go wrong between ``train.py`` of a directory and a plain job, its keys replaced."""
    paths = sorted(path for path in directory.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    listing = Listing(
        files=tuple(
            ListedFile(
                path=path.relative_to(directory).as_posix(),
                origin=str(path),
                executable=False,
                size=path.stat().st_size,
                sha256="",
            )
            for path in paths
        )
    )
    read = read_program(Started(path="train.py", named="train.py", key="script"), listing, "src").program
    return script_findings(read, script_environment(**changes))


def codes(text, beside=None, **changes):
    """Return [(code, path)] of the findings, in their order; not of arguments that were not checked (SM513)."""
    found = findings(text, beside, **changes)
    return [(one.code, ".".join(map(str, one.path))) for one in found if one.code != "SM513"]


def runs(text, words, environment=None):
    """Run a script in this process with a command line; return None when it ends well, else what it said.

    ``environment``: variables that are set beside those of this process. All variables are put back.
    """
    module = types.ModuleType("__main__")
    module.__file__ = "train.py"
    argv, main, variables = sys.argv, sys.modules["__main__"], dict(os.environ)
    os.environ.update(environment or {})
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
        os.environ.clear()
        os.environ.update(variables)
    return None
