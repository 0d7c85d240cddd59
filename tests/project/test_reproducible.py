"""Builds are reproducible: clock, machine, user, directory, and process do not matter."""

import functools
import os
import shutil
import sys
from pathlib import Path

import pytest

from support.smspec_command import environment, smspec_process

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path.parent for path in (ROOT / "specs").glob("*/job.yaml"))

WORLDS = {
    "another hash seed, time zone, clock, locale, and user": {
        "env": {
            "PYTHONHASHSEED": "4000000000",
            "TZ": "Pacific/Kiritimati",
            "SOURCE_DATE_EPOCH": "1",
            "LC_ALL": "C",
            "LANG": "C",
            "PYTHONUTF8": "0",
            "PYTHONCOERCECLOCALE": "0",  # a locale without UTF-8
            "HOME": "/nonexistent",
            "USER": "somebody",
            "LOGNAME": "somebody",
        },
        "umask": 0o077,
    },
    "no umask, and warnings are errors": {"env": {"PYTHONHASHSEED": "1", "PYTHONWARNINGS": "error"}, "umask": 0o000},
    "optimised": {"env": {"PYTHONOPTIMIZE": "2"}},
    "yaml without its C parser": {"python_yaml": True},
}
"""What each changes is independent of the rest, so it is changed at once."""


def below(directory):
    """Return {path: (content, executable)} of everything below a directory."""
    return {
        path.relative_to(directory).as_posix(): (path.read_bytes(), bool(path.stat().st_mode & 0o100))
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def built(example, place, *, env=None, umask=0o022, python_yaml=False):
    """Copy an example to ``place``, build it there as a process, and return the tree."""
    shutil.copytree(example, place / "job", ignore=shutil.ignore_patterns("build", "run", "__pycache__"))
    variables = environment(**(env or {}))
    if python_yaml:
        # As where PyYAML was built without libyaml.
        (place / "site").mkdir()
        (place / "site" / "sitecustomize.py").write_text("import yaml\ndel yaml.CBaseLoader, yaml.CSafeLoader\n")
        variables["PYTHONPATH"] = str(place / "site")
    done = smspec_process("build", "-o", "tree", cwd=place / "job", env=variables, umask=umask)
    assert done.status == 0, done.err
    return below(place / "job" / "tree")


@pytest.fixture(scope="module")
def built_here(tmp_path_factory):
    """Build an example here, once for all that compare with it."""
    return functools.cache(lambda example: built(example, tmp_path_factory.mktemp(example.name) / "here"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_examples_build_equally_in_another_environment(example, built_here, tmp_path):
    there = built(
        example,
        tmp_path / "somewhere" / "quite" / "different",
        env={"PYTHONHASHSEED": "1", "TZ": "Asia/Kathmandu", "LC_ALL": "C", "HOME": "/nonexistent"},
        umask=0o077,
    )
    assert there == built_here(example)


@pytest.mark.parametrize("world", WORLDS)
def test_environment_does_not_change_the_build(world, built_here, tmp_path):
    example = ROOT / "specs" / "script-mode"
    assert built(example, tmp_path, **WORLDS[world]) == built_here(example)


@pytest.mark.parametrize("words", [["render", "--api-json"], ["render", "--spec"], ["validate", "--format", "json"]])
def test_output_depends_on_the_directory_only_in_paths(words, tmp_path):
    example = ROOT / "specs" / "sharded-similarity"
    inside = smspec_process(*words, cwd=example)
    outside = smspec_process(*words, str(example / "job.yaml"), cwd=tmp_path)
    relative = smspec_process(*words, os.path.relpath(example / "job.yaml", tmp_path), cwd=tmp_path)
    assert inside.out == outside.out == relative.out
    assert inside.out


def test_output_ignores_age_and_order_of_files(tmp_path):
    """Directories are listed in an order that depends on their history."""
    one, other = tmp_path / "one", tmp_path / "other"
    example = ROOT / "specs" / "sharded-similarity"
    names = sorted(
        path.relative_to(example) for path in example.rglob("*") if path.is_file() and "build" not in path.parts
    )
    for place, order in ((one, names), (other, names[::-1])):
        for number, name in enumerate(order):
            target = place / "spec" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(example / name, target)
            os.utime(target, (number, number * 1_000_000))
    assert built(one / "spec", one) == built(other / "spec", other)


@pytest.mark.parametrize("version", [f"3.{minor}" for minor in range(10, 15)])
def test_every_python_builds_equal_bytes(version, built_here, tmp_path):
    """Where another CPython has what the compiler needs; CI makes an environment for each."""
    if f"3.{sys.version_info.minor}" == version:
        pytest.skip("this one")
    python = ROOT / f".venv-{version}" / "bin" / "python"
    if not python.exists():
        pytest.skip(f"no environment with CPython {version}")
    example = ROOT / "specs" / "script-mode"
    shutil.copytree(example, tmp_path / "job", ignore=shutil.ignore_patterns("build", "run", "__pycache__"))
    done = smspec_process("build", "-o", "tree", python=str(python), cwd=tmp_path / "job")
    assert done.status == 0, done.err
    assert below(tmp_path / "job" / "tree") == built_here(example)
