"""Names of tests are the same in every run: workers, clones, and people who report a failure agree about them."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support import parameter_names
from support.sampled_cases import only_with_all_programs

ROOT = Path(__file__).parents[2]
YEARS = 9 * 365 * 86400
FAKETIME = next((str(path) for path in Path("/usr/lib").glob("*/faketime/libfaketime.so.1")), None)
# Another user who may read what this one may: files of one are those of the other.
OTHER_USER = ["unshare", "--user", "--map-user=4321", "--map-group=4321"]


def collected(root, environ, prefix=()):
    """Return the names of all tests of a tree, in order, whatever is in the sample."""
    paths = os.pathsep.join(str(root / each) for each in ("compiler", "runtime", "schemas"))
    done = subprocess.run(
        [*prefix, sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"],
        cwd=root,
        env={**environ, "PYTHONPATH": paths, "SMSPEC_ALL_CASES": "1"},
        capture_output=True,
        text=True,
        errors="backslashreplace",
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    names = [line for line in done.stdout.splitlines() if "::" in line]
    assert len(names) > 10_000
    return names


def copy_of(root, target):
    """Copy what git keeps of a tree, without asking it: a tree may come from an archive."""
    made = {".git", ".hypothesis", "build", "run", "dist", "collect", "__pycache__"}

    def ignored(_, names):
        return [name for name in names if name in made or name.startswith(".venv") or name.endswith("_cache")]

    shutil.copytree(root, target, symlinks=True, ignore=ignored)
    return target


def differing(here, elsewhere):
    """Return some names that are not in both, or not in one place. To show all of 20,000, pytest takes minutes."""
    return (
        sorted(set(here) ^ set(elsewhere))[:40]
        or [pair for pair in zip(here, elsewhere, strict=False) if len({*pair}) > 1][:5]
    )


@pytest.fixture(scope="module")
def here_and_elsewhere(tmp_path_factory):
    """Two collections, which take half a minute: as the tests run, and with all at once that must not matter."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}
    home = tmp_path_factory.mktemp("another home")
    other = {
        **{name: value for name, value in plain.items() if name.startswith("SMSPEC_")},
        "PATH": "/usr/bin:/bin",
        "HOME": str(home),
        "USER": "another",
        "TMPDIR": str(home),
        "TZ": "Pacific/Kiritimati",
        "LC_ALL": "tr_TR.UTF-8",
        "COLUMNS": "40",
        "PYTHONHASHSEED": "4321",
    }
    if FAKETIME:
        other |= {"LD_PRELOAD": FAKETIME, "FAKETIME": f"+{YEARS}", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    may_change = (
        shutil.which(OTHER_USER[0]) and subprocess.run([*OTHER_USER, "true"], capture_output=True).returncode == 0
    )
    here = collected(ROOT, {**plain, "PYTHONHASHSEED": "1"})
    elsewhere = collected(copy_of(ROOT, home / "a clone"), other, OTHER_USER if may_change else ())
    return here, elsewhere, other


@only_with_all_programs
@pytest.mark.slow
@pytest.mark.xdist_group("names of tests")
def test_names_are_the_same_elsewhere(here_and_elsewhere):
    """Another home, PATH, locale, time zone, and hash seed as well; and another user where the kernel allows one."""
    here, elsewhere, _ = here_and_elsewhere
    assert differing(here, elsewhere) == []


@only_with_all_programs
@pytest.mark.slow
@pytest.mark.xdist_group("names of tests")
@pytest.mark.skipif(FAKETIME is None, reason="libfaketime is not installed")
def test_names_are_the_same_at_another_time(here_and_elsewhere):
    here, elsewhere, environ = here_and_elsewhere
    shown = subprocess.check_output([sys.executable, "-c", "import time; print(time.time())"], env=environ, text=True)
    assert float(shown) > time.time() + YEARS / 2, "the clock was another one"
    assert differing(here, elsewhere) == []


@pytest.mark.parametrize(
    "value", [b"\x1f\x8b", object(), [b"nested"], {"key": object()}], ids=["bytes", "object", "bytes in a list", "deep"]
)
def test_bytes_and_objects_need_a_name(value):
    with pytest.raises(parameter_names.Unnamed):
        parameter_names.name_of(value)


def test_name_of_a_container_is_its_contents():
    assert parameter_names.name_of({"b": {"y", "x"}, "a": [1, None]}) == "b: {'x', 'y'}, a: [1, None]"
    assert parameter_names.name_of(("é",)) == r"'\xe9'"
    assert parameter_names.name_of([]) == "[]"
    long = [parameter_names.name_of(["x" * 500, end]) for end in "ab"]
    assert len({*long}) == 2 and max(map(len, long)) < 80


@pytest.mark.parametrize("value", ["text", 5, None, True, len, ValueError], ids=repr)
def test_good_names_of_pytest_are_kept(value):
    assert parameter_names.name_of(value) is None
