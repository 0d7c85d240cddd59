"""Shims of a version manager start what the files of the current directory name: no command runs one in a project."""

import os
import sys

import pytest

from support.git_repository import commit, repository
from support.small_job import BUILT, write_job
from support.smspec_command import environment, smspec_process
from support.submitted_job import SPEC

SHIM = """\
#!/bin/sh
echo {name} >> '{seen}'
at=$PWD
while [ -n "$at" ]; do
    if [ -f "$at/.tool-versions" ]; then read -r place < "$at/.tool-versions"; exec "$place/{name}" "$@"; fi
    at=${{at%/*}}
done
{real}
"""
KEYS = '{"Version": 1, "AccessKeyId": "testing-0123456789", "SecretAccessKey": "testing-0123456789"}'
UNREACHABLE = {
    "AWS_ACCESS_KEY_ID": "",
    "AWS_SECRET_ACCESS_KEY": "",
    "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
    "AWS_MAX_ATTEMPTS": "1",
    "SMSPEC_HTTP_TIMEOUT": "3",
}
"""No keys of the environment, and an AWS that does not answer."""
REAL = {
    "git": 'exec /usr/bin/git "$@"',
    "docker": "echo out of order >&2; exit 1",
    "docker-credential-mine": "exit 1",
    "podman": "echo out of order >&2; exit 1",
    "uv": "echo uv 0.1.0",
    "mine": f"echo '{KEYS}'",
    "slirp4netns": "exit 1",
    "newuidmap": "exit 1",
    "newgidmap": "exit 1",
}
CASES = {
    "validate --changed HEAD": ("git",),
    "diff --base HEAD": ("git",),
    "run --engine docker": ("docker",),
    "run --engine podman": ("podman",),
    "run": (),
    "check": (),
    "submit --dry-run --profile a": ("mine",),
    "status --profile a": ("mine",),
}


def write_program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def project(tmp_path):
    """The repository of a stranger, whose list names programs that leave a file; shims are first on PATH."""
    home = repository(tmp_path / "home")
    write_job(home, SPEC)
    for name, real in REAL.items():
        write_program(tmp_path / "shims" / name, SHIM.format(name=name, seen=tmp_path / "seen", real=real))
        write_program(home / "planted" / name, f"#!/bin/sh\necho {name} >> '{tmp_path}/started'\n")
    (home / ".tool-versions").write_text(f"{home}/planted\n")
    commit(home)
    (home / "train.py").write_text("print(2)\n")
    (tmp_path / "config").write_text("[profile a]\ncredential_process = mine --json\n")
    return home


@pytest.mark.skipif(not os.path.exists("/usr/bin/git"), reason="git is elsewhere")
@pytest.mark.parametrize("command", CASES)
def test_no_shim_is_started_in_the_project(project, tmp_path, command):
    seen, started = tmp_path / "seen", tmp_path / "started"
    done = smspec_process(
        *command.split(),
        cwd=project,
        timeout=300,
        env={
            **environment(
                PATH=f"{tmp_path}/shims:/usr/bin:/bin",
                AWS_CONFIG_FILE=str(tmp_path / "config"),
                SMSPEC_CACHE_DIR=str(tmp_path / "cache"),
                **UNREACHABLE,
            ),
            "PWD": str(project),
        },
    )
    assert "Traceback" not in done.err
    assert not started.exists(), (started.read_text(), done.err)
    assert {*CASES[command]} <= {*(seen.read_text().split() if seen.exists() else ())}, done.err


def test_relative_name_of_a_setting_stays_that_of_the_project(project, tmp_path):
    """The program that prints keys reads the same file of profiles as smspec."""
    write_program(
        tmp_path / "shims" / "mine", f'#!/bin/sh\ncat "$AWS_CONFIG_FILE" > "{tmp_path}/read"\necho \'{KEYS}\'\n'
    )
    (tmp_path / "config").rename(project / "profiles")
    env = environment(PATH=f"{tmp_path}/shims:/usr/bin:/bin", AWS_CONFIG_FILE="profiles", **UNREACHABLE)
    smspec_process("status", "--profile", "a", cwd=project, timeout=300, env=env)
    assert (tmp_path / "read").read_text() == (project / "profiles").read_text()


PARTS = {"empty": "", "dot": ".", "name": "planted"}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("command", ["check", "run", "run --engine docker", "diff --base HEAD"])
def test_relative_part_of_path_leads_to_no_program(project, tmp_path, command, part):
    """`export PATH=$PATH:` is common, and searches the current directory for what is nowhere else."""
    write_job(project, BUILT.replace("3.12", "3.9"))
    for place in (project, project / "planted"):
        for name in ("python3.9", "python3", "uv", "docker", "git", "slirp4netns", "newuidmap"):
            write_program(place / name, f"#!/bin/sh\necho {name} >> '{tmp_path}/started'\n")
    os.symlink(sys.executable, tmp_path / "shims" / "python3")
    for name in ("git", "docker", "uv", "slirp4netns", "newuidmap", "newgidmap"):
        (tmp_path / "shims" / name).unlink()
    done = smspec_process(
        *command.split(),
        cwd=project,
        timeout=300,
        env=environment(
            PATH=f"{PARTS[part]}:{tmp_path}/shims:{PARTS[part]}",
            HOME=str(tmp_path),
            PYENV_ROOT=str(tmp_path),
            SMSPEC_CACHE_DIR=str(tmp_path / "cache"),
        ),
    )
    assert not (tmp_path / "started").exists(), ((tmp_path / "started").read_text(), done.err)
    assert "Traceback" not in done.err and "./" not in done.err, done.err


DIRECTORIES = {
    "UV_PYTHON_INSTALL_DIR": "cpython-3.9.1-linux/bin/python3",
    "ASDF_DATA_DIR": "installs/python/3.9.1/bin/python",
    "MISE_DATA_DIR": "installs/python/3.9.1/bin/python",
    "PYENV_ROOT": "versions/3.9.1/bin/python",
}


@pytest.mark.parametrize("variable", DIRECTORIES)
def test_relative_directory_of_pythons_is_not_searched(project, tmp_path, variable):
    write_job(project, BUILT.replace("3.12", "3.9"))
    write_program(project / "pythons" / DIRECTORIES[variable], f"#!/bin/sh\necho python >> '{tmp_path}/started'\n")
    own = {"PYENV_ROOT": str(tmp_path), "SMSPEC_CACHE_DIR": str(tmp_path / "cache"), "HOME": str(tmp_path)}
    smspec_process("check", cwd=project, timeout=300, env=environment(**{**own, variable: "pythons"}))
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize("is_tracked", [True, False], ids=["tracked", "own"])
@pytest.mark.parametrize("variable", [*DIRECTORIES, "shims"])
def test_tracked_directory_of_pythons_is_not_searched(project, tmp_path, variable, is_tracked):
    """Where a CI keeps files only below the checkout, a pull request may add a Python to its directory of them."""
    write_job(project, BUILT.replace("3.12", "3.9"))
    text = f"#!/bin/sh\necho python >> '{tmp_path}/started'\n"
    place = project / "pythons"
    write_program(place / DIRECTORIES.get(variable, "versions/3.9.1/bin/python3.9"), text)
    write_program(place / "shims/python3.9", text)
    if is_tracked:
        commit(project)
    own = {"PYENV_ROOT": str(tmp_path), "SMSPEC_CACHE_DIR": str(tmp_path / "cache"), "HOME": str(tmp_path)}
    chosen = {variable: str(place)}
    if variable == "shims":
        chosen = {"PYENV_ROOT": str(place), "PYENV_VERSION": "3.9.1", "PATH": f"{place}/shims:/usr/bin:/bin"}
    smspec_process("check", cwd=project, timeout=300, env=environment(**{**own, **chosen}))
    assert (tmp_path / "started").exists() != is_tracked


@pytest.mark.parametrize("command", ["check", "run"])
def test_git_of_an_installer_starts_where_no_stranger_writes(project, tmp_path, command):
    packages = '", python_requirements: list.txt, system_packages: [git]}'
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    write_job(project, BUILT.replace("3.12", version).replace('"}', packages))
    (project / "list.txt").write_text(f"git+file://{repository(tmp_path / 'package')}#egg=package\n")
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    (temporary / ".tool-versions").write_text(f"{project}/planted\n")
    env = environment(
        PATH=f"{tmp_path}/shims:{os.path.dirname(sys.executable)}:/usr/bin:/bin",
        SMSPEC_CACHE_DIR=str(tmp_path / "cache"),
        TMPDIR=str(temporary),
    )
    done = smspec_process(command, cwd=project, timeout=300, env=env)
    assert "Cloning" in done.err, done.err
    assert not (tmp_path / "started").exists(), ((tmp_path / "started").read_text(), done.err)
    assert os.listdir(tmp_path / "cache/tmp") == []
