"""``smspec --version -v``: the facts that a report needs, without the values of variables."""

import sys

import pytest

from smspec import __version__
from support.smspec_command import environment, smspec_process

SECRET = "s3cr3t-Zq81mVx"


@pytest.fixture
def report(tmp_path):
    """Return {name: [values]} of the report on a machine whose docker has no engine, and what it printed."""
    program = tmp_path / "docker"
    program.write_text(
        "#!/bin/sh\n"
        'if [ "$1" = --version ]; then echo "Docker version 28.2.2, build 0"; exit; fi\n'
        f"echo 'cannot reach https://me:{SECRET}@engine.example/v1' >&2\nexit 1\n"
    )
    program.chmod(0o755)
    variables = {"PATH": str(tmp_path), "AWS_SECRET_ACCESS_KEY": SECRET, "SMSPEC_TEST": SECRET, "UNRELATED": SECRET}
    done = smspec_process("--version", "-v", cwd=tmp_path, env=environment(**variables))
    assert (done.status, done.err) == (0, "")
    first, *lines = done.out.splitlines()
    assert first == f"smspec {__version__}"
    named = {}
    for line in lines:
        named.setdefault(line[:12].strip(), []).append(line[12:])
    return named, done.out


def test_report_has_versions_and_dates(report):
    named, _ = report
    assert named["python"] == [f"CPython {sys.version.split()[0]}"]
    assert "PyYAML " in named["packages"][0] and "botocore " in named["packages"][0]
    assert "API model of 20" in named["facts"][0]


def test_variables_are_named_without_values(report):
    named, printed = report
    assert {"AWS_SECRET_ACCESS_KEY", "SMSPEC_TEST"} <= set(named["variables"][0].split(", "))
    assert "UNRELATED" not in printed
    assert SECRET not in printed


def test_engine_has_its_version_and_the_fault(report):
    docker, podman = (next(line for line in report[0]["engine"] if name in line) for name in ("Docker", "podman"))
    assert docker.startswith("Docker version 28.2.2, build 0: `docker info` fails: cannot reach ")
    assert podman == "podman: `podman` is not installed"


def test_report_has_no_directory(report, tmp_path):
    assert str(tmp_path) not in report[1]
    assert sys.prefix not in report[1]
