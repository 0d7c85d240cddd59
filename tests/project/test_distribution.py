"""What hatch packs: the wheel has what users run, and the sdist also what builds and tests it."""

import importlib.util
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from smspec.diagnostics.explanation import explained_codes, explanation

ROOT = Path(__file__).parents[2]
RENDERED = ROOT / "compiler/smspec/render/templates"
SHIPPED = {"compiler": "smspec", "runtime": "smspec_runtime", "schemas": "smspec_schemas"}
"""Directory → the package in it that the wheel contains."""

pytestmark = pytest.mark.skipif(importlib.util.find_spec("hatchling") is None, reason="hatchling is not installed")


def packed(root, directory):
    """Build the wheel and the sdist of a tree without network; return their paths."""
    words = [sys.executable, "-m", "hatchling", "build", "-d", str(directory)]
    done = subprocess.run(words, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,), (sdist,) = directory.glob("*.whl"), directory.glob("*.tar.gz")
    return wheel, sdist


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return packed(ROOT, tmp_path_factory.mktemp("dist"))


def files_in(wheel):
    """Return {path: content} of the files of a wheel, except its metadata."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if ".dist-info/" not in name}


def sources(directory, package):
    """Return {path: content} of the files of a package on disk, but for templates, which it has as functions."""
    return {
        path.relative_to(ROOT / directory).as_posix(): path.read_bytes()
        for path in sorted((ROOT / directory / package).rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts and RENDERED not in path.parents
    }


def test_wheel_is_the_three_packages_of_users(built):
    expected = {}
    for directory, package in SHIPPED.items():
        expected |= sources(directory, package)
    found = files_in(built[0])
    assert found.keys() == expected.keys()
    assert found == expected


def test_wheel_explains_every_code(built, tmp_path):
    """The pages and their index, without the tree that the wheel is from."""
    shutil.unpack_archive(built[0], tmp_path, "zip")
    print_pages = "from smspec.diagnostics.explanation import *; print(*map(explanation, explained_codes()), sep='')"
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {print_pages}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "".join(f"{explanation(code)}" for code in explained_codes()) + "\n"
    assert len(explained_codes()) == done.stdout.count("\n## Why\n")


def test_tools_of_maintainers_are_in_the_sdist_only(built):
    wheel, sdist = built
    tools = {f"compiler/{path}" for path in sources("compiler", "maintenance")}
    assert "compiler/maintenance/facts.py" in tools
    assert not {path for path in files_in(wheel) if "maintenance" in path}
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert tools <= names
    assert {"Makefile", "dev.lock", "tests/project/test_distribution.py", ".ci/check", "docs/architecture.md"} <= names


def test_sdist_makes_the_same_wheel(built, tmp_path):
    wheel, sdist = built
    shutil.unpack_archive(sdist, tmp_path)
    (tree,) = (path for path in tmp_path.iterdir() if path.is_dir())
    assert files_in(packed(tree, tmp_path / "dist")[0]) == files_in(wheel)
