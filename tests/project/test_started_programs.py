"""Every program is started where no stranger chooses what a shim starts."""

import ast
import re
from pathlib import Path

import smspec

ROOT = Path(smspec.__file__).parent

OUTSIDE = ("OUTSIDE_PROJECTS", "os.sep")
OTHERWISE = {
    "collection/part_merging.py": "the command of `--merge`, typed for the current directory",
    "local/channels/feeder_process.py": "the Python of smspec itself, whose store reads settings of AWS",
    "local/engines/engine.py": "the job",
    "local/engines/namespace/availability.py": "the Python of smspec itself",
    "local/engines/namespace/cell_process.py": "the Python of smspec itself",
    "local/python/installing.py": "a Python by its path, or uv in the directory of all programs",
    "proof/sandbox.py": "the job, confined",
    "wire/credential_sources.py": "in the options",
}


def starts():
    """Yield each start of a program: its file, the call, and the value of its ``cwd``, or None."""
    for path in ROOT.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "subprocess" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in (
                *(f"subprocess.{name}" for name in ("run", "Popen", "call", "check_call", "check_output")),
                *("os.system", "os.popen"),
            ):
                cwd = next((ast.unparse(word.value) for word in node.keywords if word.arg == "cwd"), None)
                yield str(path.relative_to(ROOT)), node, cwd


def test_programs_start_outside_of_projects():
    found = list(starts())
    assert len(found) > 12
    for path, call, cwd in found:
        assert cwd in OUTSIDE or path in OTHERWISE, f"{path}:{call.lineno}: cwd={cwd}"


def test_reasons_name_files_that_need_one():
    assert {path for path, _, cwd in starts() if cwd not in OUTSIDE} == {*OTHERWISE}


def test_programs_are_looked_up_in_absolute_places():
    """`shutil.which` also finds what a relative part of PATH leads to: the programs of a stranger's repository."""
    found = [path for path in ROOT.rglob("*.py") if re.search(r"\bwhich\(", path.read_text(encoding="utf-8"))]
    assert found == []
