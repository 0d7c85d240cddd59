"""The program behind a shim of pyenv is the one that pyenv starts."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from smspec.local.python.interpreter import (
    matching_interpreter,
    named_interpreter,
    nearest_interpreter,
    program_on_path,
    usual_interpreter,
)
from smspec.local.running.request import RunFailed

PROGRAMS = {"3.11.7": ["python3", "python3.11"], "3.12.1": ["python3", "python3.12"], "tools": ["python3.12"]}


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A pyenv with three versions, whose shims are first on PATH; after them a system with two programs."""
    root = tmp_path / "pyenv"
    named = {name for names in PROGRAMS.values() for name in names}
    paths = [root / "versions" / version / "bin" / name for version, names in PROGRAMS.items() for name in names]
    paths += [tmp_path / "system" / name for name in ("python3", "python3.13", "tool")]
    for path in [*paths, *(root / "shims" / name for name in (*named, "python3.13"))]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
    monkeypatch.setenv("PYENV_ROOT", str(root))
    for name in ("PYENV_VERSION", "PYENV_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", f"{root}/shims:{tmp_path}/system")
    (tmp_path / "project" / "below").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project" / "below")
    return root


# How the versions are selected: by PYENV_VERSION, .python-version above the directory, the file of pyenv.
SELECTIONS = [
    (None, None, "3.11.7\n"),
    (None, None, "3.12.1"),
    (None, None, None),
    (None, None, "system\n"),
    (None, "3.12.1\n", "3.11.7\n"),
    (None, "# none\n\n  tools and more\r\n3.11.7", "3.12.1\n"),
    (None, "", "3.12.1\n"),
    ("3.12.1", "3.11.7\n", "3.11.7\n"),
    ("tools:3.11.7", None, "3.12.1\n"),
    ("system:3.12.1", None, "3.11.7\n"),
    ("", "tools\n", None),
    ("3.9.0", None, "3.11.7\n"),
    ("3.12", None, "3.11.7\n"),
    ("python-3.12.1", None, "3.11.7\n"),
]
SHIM, SYSTEM = "shim", "system"
FOUND = [
    {"python3": "3.11.7", "python3.11": "3.11.7", "python3.12": None, "python3.13": SYSTEM},
    {"python3": "3.12.1", "python3.11": None, "python3.12": "3.12.1", "python3.13": SYSTEM},
    {"python3": SYSTEM, "python3.11": None, "python3.12": None, "python3.13": SYSTEM},
    {"python3": SYSTEM, "python3.11": None, "python3.12": None, "python3.13": SYSTEM},
    {"python3": "3.12.1", "python3.11": None, "python3.12": "3.12.1"},
    {"python3": "3.11.7", "python3.11": "3.11.7", "python3.12": "tools"},
    {"python3": SYSTEM, "python3.11": None, "python3.12": None},
    {"python3": "3.12.1", "python3.11": None},
    {"python3": "3.11.7", "python3.12": "tools"},
    {"python3": SYSTEM, "python3.12": "3.12.1"},
    {"python3": SYSTEM, "python3.12": "tools"},
    {"python3": SHIM, "python3.11": SHIM, "python3.13": SHIM},
    {"python3": SHIM, "python3.12": SHIM},
    {"python3": SHIM, "python3.12": SHIM},
]


def test_shim_stands_for_the_selected_version(root, monkeypatch):
    """No program of a version that is not selected is found."""
    real = shutil.which("pyenv", path=f"{os.path.expanduser('~')}/.pyenv/bin")
    for (variable, local, everywhere), expected in zip(SELECTIONS, FOUND, strict=True):
        monkeypatch.delenv("PYENV_VERSION", raising=False)
        if variable is not None:
            monkeypatch.setenv("PYENV_VERSION", variable)
        for path, text in ((root / "version", everywhere), (Path("..", ".python-version"), local)):
            path.unlink(missing_ok=True)
            if text is not None:
                path.write_bytes(text.encode())
        for name, version in expected.items():
            directory = {SHIM: root / "shims", SYSTEM: root.parent / "system"}
            wanted = version and str(directory.get(version, root / "versions" / version / "bin") / name)
            assert program_on_path(name) == wanted, (variable, local, everywhere)
            if real is not None and version != SHIM and name in ("python3", "python3.12"):
                variables = {**os.environ, "PATH": f"{os.environ['PATH']}:/usr/bin:/bin"}
                answer = subprocess.run([real, "which", name], env=variables, capture_output=True, text=True)
                assert answer.stdout.strip() == (wanted or ""), (variable, local, everywhere)


def test_version_of_a_repository_is_inside_pyenv(root):
    """A pull request may have the file, and a program beside it (CVE-2022-35861 of pyenv)."""
    planted = root.parent / "planted"
    shutil.copytree(root / "versions" / "3.12.1", planted)
    shutil.copytree(planted, root / "versions" / "3.12.1" / "envs" / "own")
    (root / "versions" / "link").symlink_to(planted)
    for text in (f"{planted}", "../../planted", "3.12.1/../../../planted", "link/../planted", "..", ".", "//"):
        Path(".python-version").write_text(text)
        assert program_on_path("python3") == str(root.parent / "system" / "python3"), text
        # The shim would read the first line, too.
        for unknown in ("python-3.12.1", "3.12"):
            Path(".python-version").write_text(f"{text}\n{unknown}\n")
            assert program_on_path("python3") == str(root.parent / "system" / "python3"), (text, unknown)
        Path(".python-version").write_text(f"{text}\n3.12.1\n")
        assert program_on_path("python3") == str(root / "versions" / "3.12.1" / "bin" / "python3"), text
    late = "#\n" * 40_000 + "../../planted"
    for text in ("..\0/../planted\n3.12", f"3.12\n{late}", f"3.12\n\0{late}"):
        Path(".python-version").write_text(text)
        assert program_on_path("python3") == str(root.parent / "system" / "python3"), text
    Path(".python-version").write_text("3.12.1/envs/own")
    assert program_on_path("python3") == str(root / "versions" / "3.12.1" / "envs" / "own" / "bin" / "python3")


def test_other_program_is_found_on_path(root, monkeypatch):
    assert program_on_path("tool") == str(root.parent / "system" / "tool")
    assert program_on_path("no-such-program") is None
    monkeypatch.setenv("PYENV_ROOT", "/nowhere")
    assert program_on_path("python3") == str(root / "shims" / "python3")


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}")
    path.chmod(0o755)


@pytest.mark.parametrize("manager", ["ASDF_DATA_DIR", "MISE_DATA_DIR"])
def test_shim_starts_no_program_of_a_repository(root, monkeypatch, manager):
    """A pull request may have a `.tool-versions`, and the program that it names."""
    minor = f"3.{sys.version_info.minor}"
    data = root.parent / "data"
    program(data / "installs" / "python" / f"{minor}.0" / "bin" / "python", f'exec "{sys.executable}" "$@"\n')
    for name in ("python3", f"python{minor}"):
        program(data / "shims" / name, f'read -r place < .tool-versions && exec "$place/{name}" "$@"\nexit 126\n')
        program(Path("planted", name), f'echo started > "{root.parent}/started"\nexec "{sys.executable}" "$@"\n')
    Path(".tool-versions").write_text(f"{Path.cwd()}/planted\n")
    monkeypatch.setenv(manager, str(data))
    monkeypatch.setenv("PATH", f"{data}/shims:/usr/bin:/bin")
    for found in (matching_interpreter(minor), nearest_interpreter(minor)):
        assert found is not None and found.minor == minor
    with pytest.raises(RunFailed, match=r"starts, outside of this project, no Python 3\.8 or later"):
        usual_interpreter()
    assert not (root.parent / "started").exists()


def test_shim_of_pyenv_starts_what_its_list_selects(root):
    """It is asked outside of the project, so it cannot read the list there."""
    Path(".python-version").write_text("3.12\n3.11.7\n")
    program(root / "shims" / "python3", f'test "$PYENV_VERSION" = 3.12:3.11.7 && exec "{sys.executable}" "$@"\n')
    assert usual_interpreter().minor == f"3.{sys.version_info.minor}"


def test_relative_path_of_a_python_is_of_the_project(root):
    Path("python").symlink_to(sys.executable)
    assert named_interpreter("./python").minor == f"3.{sys.version_info.minor}"
