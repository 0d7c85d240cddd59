"""The runtime uses only the standard library and Python 3.8, and importing it has no side effects."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from support.runtime.container import Container

ROOT = Path(__file__).parents[2]
GUESTS = sorted((ROOT / "runtime").rglob("*.py")) + sorted((ROOT / "compiler/smspec/local/feeder").rglob("*.py"))
MODULES = sorted(
    ".".join(path.relative_to(ROOT / "runtime").with_suffix("").parts).removesuffix(".__init__")
    for path in (ROOT / "runtime").rglob("*.py")
    if path.name != "__main__.py"
)
OPTIONAL = {"boto3", "botocore", "numpy"}
"""May be used when the image has them, imported late."""


def relative(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", GUESTS, ids=relative)
def test_runtime_parses_as_python_3_8(path):
    ast.parse(path.read_text(), filename=str(path), feature_version=(3, 8))


@pytest.mark.parametrize("path", GUESTS, ids=relative)
def test_runtime_imports_only_the_standard_library(path):
    tree = ast.parse(path.read_text())
    top_level = {node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [] if node.level else [node.module]
        else:
            continue
        for name in names:
            package = name.split(".")[0]
            if package in OPTIONAL:
                assert node not in top_level, f"{name} must be imported late"
            else:
                assert package in sys.stdlib_module_names | {"smspec_runtime", "feeder"}, name


IMPORT = f"""
import os, signal, sys
sys.path.insert(0, {str(ROOT / "runtime")!r})
handlers = {{n: signal.getsignal(n) for n in signal.valid_signals()}}
environment = dict(os.environ)
def watch(event, arguments):
    if event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
        if "__pycache__" not in str(arguments[0]):
            raise SystemExit("opened {{}} for writing".format(arguments[0]))
    if event in ("subprocess.Popen", "os.posix_spawn", "os.fork", "os.mkdir", "socket.connect"):
        raise SystemExit(event)
for module in sys.argv[1:]:
    process = os.fork()
    if process:
        if os.waitpid(process, 0)[1]:
            sys.exit(module)
        continue
    sys.addaudithook(watch)
    __import__(module)
    assert dict(os.environ) == environment
    assert {{n: signal.getsignal(n) for n in signal.valid_signals()}} == handlers
    break
"""


def test_importing_has_no_side_effects(tmp_path):
    """Importing a module opens no file for writing, starts no process, and changes no environment or signal.

    Each is the first that its process imports: a copy of one that has imported none.
    """
    done = subprocess.run(
        [sys.executable, "-B", "-c", IMPORT, *MODULES], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr or done.stdout
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


SLOW = {
    *("argparse", "asyncio", "contextlib", "ctypes", "dataclasses", "gzip", "hashlib", "importlib.util", "inspect"),
    *("logging", "pathlib", "random", "shlex", "shutil", "socket", "string", "subprocess", "tarfile", "tempfile"),
    *("threading", "traceback", "typing", "urllib.parse"),
}
"""Each takes its part of a millisecond, some take several, and a plain job needs none of them."""


def test_plain_job_loads_no_slow_module(tmp_path):
    """One script on one host: no launcher, no pipe, no delivery, and none of what takes long to load."""
    script = """
import os, sys
idle = set(sys.modules)
sys.path.insert(0, sys.argv[1])
from smspec_runtime.main import main
status = main(["train"])
print(status, *sorted(set(sys.modules) - idle))
"""
    container = Container(tmp_path / "ml")
    container.configure(hyperparameters={"epochs": "3", "api-key": "secret"})
    container.write("code/train.py", "pass")
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script, str(ROOT / "runtime")],
        env=container.environ(SAGEMAKER_PROGRAM="train.py"),
        capture_output=True,
        text=True,
        timeout=60,
    )
    status, *loaded = done.stdout.split()
    assert status == "0", done.stderr
    assert not SLOW.intersection(loaded)
    ours = {name.split(".")[1] for name in loaded if name.startswith("smspec_runtime.")}
    assert not ours & {"extraction", "launchers", "local_tree", "pipe", "team", "training_job"}
