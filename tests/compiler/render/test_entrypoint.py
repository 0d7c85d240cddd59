"""The generated entrypoint: Python 3.8, a descriptive docstring, and the runtime next to it."""

import ast
import glob
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import smspec_runtime
from smspec.render.dockerfile import entrypoint
from smspec.spec.model import DISTRIBUTIONS
from smspec_runtime.run_plan import RunPlan

KINDS = ("script", "command", "module", "pipe_loop")
LAUNCHERS = (None, *DISTRIBUTIONS)
DELIVERIES = ("image", "channel", "s3")

words = st.text(st.characters(exclude_characters="\0"), max_size=20)
plans = st.builds(
    RunPlan,
    kind=st.sampled_from(KINDS),
    program=words,
    command=st.lists(words, max_size=3),
    arguments=st.lists(words, max_size=3),
    launcher=st.sampled_from(LAUNCHERS),
    delivery=st.sampled_from(DELIVERIES),
)

RUNTIME = """
import os, sys
def main(words, plan_file):
    print(words, os.path.basename(plan_file), open(plan_file).read(), __file__)
    return 7
def end(status):
    print(status, flush=True)
    os._exit(status)
"""


@given(plans)
def test_entrypoint_is_python_3_8_for_any_plan(plan):
    text = entrypoint(plan)
    tree = ast.parse(text.encode(), feature_version=(3, 8))
    assert [type(node).__name__ for node in tree.body] == [
        *("Expr", "Import", "Import", "Assign", "If", "If", "ImportFrom", "If")
    ]
    assert len(text.splitlines()) < 35


@pytest.mark.parametrize("kind", KINDS)
def test_docstring_names_the_started_script(kind):
    text = entrypoint(RunPlan(kind=kind, program="the.program", command=["the.program"]))
    assert "the.program" in ast.get_docstring(ast.parse(text))


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_docstring_names_the_launcher(launcher):
    first = entrypoint(RunPlan(kind="script", program="train.py", launcher=launcher)).splitlines()[0]
    word = {
        None: "one process",
        "mpi": "mpirun",
        "parameter_server": "parameter server",
        "smdataparallel": "data parallel",
    }
    assert word.get(launcher, launcher) in first


@pytest.mark.parametrize("flags", [[], ["-I"], ["-P"], ["-S", "-E"]])
@pytest.mark.parametrize("relative", [False, True])
def test_entrypoint_starts_the_runtime_next_to_it(tmp_path, flags, relative):
    """From any directory and path, the adjacent runtime is used instead of an installed one."""
    if flags == ["-P"] and sys.version_info < (3, 11):
        pytest.skip("python -P came with 3.11")
    home = tmp_path / "opt smspec"
    (home / "smspec_runtime").mkdir(parents=True)
    (home / "entrypoint.py").write_text(entrypoint(RunPlan(kind="script", program="train.py")))
    (home / "run_plan.json").write_text("the plan")
    (home / "smspec_runtime/__init__.py").touch()
    (home / "smspec_runtime/main.py").write_text(RUNTIME)
    (home / "smspec_runtime/early_signals.py").write_text("def hold_early_signals(): pass\n")
    other = tmp_path / "other"
    (other / "smspec_runtime").mkdir(parents=True)
    (other / "smspec_runtime/__init__.py").write_text("raise SystemExit('the wrong runtime')")
    script = "entrypoint.py" if relative else str(home / "entrypoint.py")
    done = subprocess.run(
        [sys.executable, *flags, script, "train"],
        cwd=home if relative else tmp_path,
        env={**os.environ, "PYTHONPATH": str(other), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (7, "")
    assert done.stdout == f"['train'] run_plan.json the plan {home}/smspec_runtime/main.py\n7\n"


@pytest.mark.parametrize("version", ["2.7", "3.6", "3.7"])
@pytest.mark.parametrize("start", ["entrypoint.py", "-m"])
def test_old_python_ends_the_job_in_words(tmp_path, version, start):
    """Not with a SyntaxError of a module that it cannot read."""
    root = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    found = sorted(glob.glob(os.path.join(glob.escape(root), "versions", f"{version}.*", "bin/python")))
    if not found:
        pytest.skip(f"there is no Python {version} below ~/.pyenv")
    (tmp_path / "smspec_runtime").symlink_to(Path(smspec_runtime.__file__).parent)
    (tmp_path / "entrypoint.py").write_text(entrypoint(RunPlan(kind="command", command=["é"], program="")))
    words = ["-m", "smspec_runtime", "train"] if start == "-m" else ["entrypoint.py", "train"]
    kept = {"cwd": tmp_path, "env": {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}}
    done = subprocess.run([found[0], *words], capture_output=True, text=True, **kept)
    text = f"the image has Python {version}, and the runtime needs Python 3.8 or later"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"smspec: {text}\n")
    code = "from smspec_runtime.old_python import refuse; refuse('failure')"
    subprocess.run([found[0], "-c", code], capture_output=True, **kept)
    assert (tmp_path / "failure").read_text() == text
