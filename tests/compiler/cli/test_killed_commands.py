"""A command killed at any system call that changes the disk leaves the old state or the new one.

To be killed at a call that changes nothing is to be killed after the last one that did, so these calls stand for all.
Some of them are tried, and all where SMSPEC_EVERY_CALL is set.
"""

import os
import re
import shutil
import signal
import subprocess
import sys

import pytest

from support.servers.package_index import Packages, package_server
from support.small_job import BUILT, write_job
from support.smspec_command import environment, smspec

STRACE = shutil.which("strace")
pytestmark = pytest.mark.skipif(STRACE is None, reason="strace is not installed")

CALLS = ("openat", "write", "mkdir", "chmod", "fchmod", "fsync", "rename", "renameat2", "unlink", "unlinkat", "rmdir")
RARE = ("rename", "renameat2")
CHANGES = re.compile(r"(?:\d+ +)?(\w+)\((.*)")
DIGEST = "sha256:" + "0" * 64

SPEC = BUILT.replace('bookworm"}', 'bookworm", python_requirements: requirements.txt}')
PROGRAM = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--epochs', type=int)\np.parse_args()\n"


def traced(place, words, *options):
    # A resolver of packages has threads, so its calls have no order; it changes nothing in the repository.
    children = [] if words[0] == "lock" else ["-f"]
    done = subprocess.run(
        [STRACE, *children, "-qq", "-y", "-o", place / "trace", *options, sys.executable, "-m", "smspec", *words],
        cwd=place / "repository",
        env=environment(PYTHONDONTWRITEBYTECODE="1"),
        capture_output=True,
        text=True,
    )
    if "ptrace" in done.stderr:
        pytest.skip(f"strace cannot trace here: {done.stderr.strip()}")
    return done


def points(place, words):
    """Run once unharmed and return (call, which of its kind) for all calls that change something in the repository."""
    done = traced(place, words, "-e", f"trace={','.join(CALLS)}")
    assert done.returncode == 0, done.stderr
    counts, found = dict.fromkeys(CALLS, 0), []
    for line in (place / "trace").read_text().splitlines():
        match = CHANGES.match(line)
        if match and match[1] in counts:
            counts[match[1]] += 1
            changes = "O_CREAT" in match[2] if match[1] == "openat" else True
            if changes and str(place / "repository") in match[2]:
                found.append((match[1], counts[match[1]]))
    return found


def chosen(found, only_rare):
    if os.environ.get("SMSPEC_EVERY_CALL"):
        return found
    usual = [] if only_rare else [point for point in found if point[0] not in RARE]
    # The last one comes after the exchange, however many files there are.
    return [point for point in found if point[0] in RARE] + usual[: -1 : max(1, len(usual) // 3)] + usual[-1:]


def files(directory):
    return {
        str(path.relative_to(directory)): (path.read_bytes(), path.stat().st_mode)
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def index():
    packages = Packages()
    packages.add("numpy", "2.1.0")
    packages.add("numpy", "2.2.0")
    with package_server(packages) as server:
        yield server


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A cache of these tests alone: what others put into theirs meanwhile would change the calls."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def repository(tmp_path, index, cache, monkeypatch):
    """A job with all that a build reads: a lock, a policy, requirements and a program that is understood."""
    monkeypatch.setenv("PIP_INDEX_URL", index.url)
    monkeypatch.setenv("SMSPEC_CACHE_DIR", str(cache))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    repository = tmp_path / "repository"
    more = {"requirements.txt": "numpy==2.1.0\n", "smspec.toml": "require_kms = false\n", "src__train.py": PROGRAM}
    write_job(repository, SPEC, **more)
    (repository / ".git").mkdir()
    assert smspec("lock", f"--digest=python:3.12-slim-bookworm={DIGEST}", cwd=repository).status == 0
    return repository


def killed(place, words, prepare, call, number):
    """Kill a command at a call, and return which of its kind that was.

    What a command keeps in a cache, and when, is not the same in every run: where the run that was counted had more
    calls, this one ends unharmed. The last call that changes the repository is then one of those before.
    """
    for when in range(number, 0, -1):
        prepare()
        done = traced(place, words, "-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={when}")
        if done.returncode == -signal.SIGKILL:
            return when
        assert done.returncode == 0, (call, when, done.stderr)
    raise AssertionError(f"never killed: {call} {number}")


def held(tmp_path, repository, words, prepare, seen, *, only_rare=False):
    """Kill a command at every chosen call: ``seen()`` is then what ``prepare()`` made, or what the whole run makes."""
    prepare()
    old = seen()
    found = points(tmp_path, words)
    new = seen()
    names = sorted(path.name for path in repository.iterdir())
    assert found
    assert old != new
    outcomes = set()
    tried = chosen(found, only_rare)
    assert tried
    for call, number in tried:
        number = killed(tmp_path, words, prepare, call, number)
        assert seen() in (old, new), (call, number)
        outcomes.add(seen() == new)
        assert smspec(*words, cwd=repository).status == 0
        assert seen() == new, (call, number)
        assert sorted(path.name for path in repository.iterdir()) == names, (call, number)
        if (repository / "build").exists():
            assert [path.name for path in (repository / "build").iterdir()] == ["small"], (call, number)
    print(f"{len(found)} calls, {len(tried)} tried")
    return outcomes


def test_killed_rebuild_leaves_the_old_tree_or_the_new_one(tmp_path, repository):
    assert smspec("build", "-o", "old", cwd=repository).status == 0
    shutil.move(repository / "old", tmp_path / "old")
    (repository / "src" / "train.py").write_text(f"{PROGRAM}print('new')\n")

    def prepare():
        shutil.rmtree(repository / "build", ignore_errors=True)
        (repository / "build").mkdir()
        shutil.copytree(tmp_path / "old", repository / "build" / "small")

    outcomes = held(tmp_path, repository, ["build"], prepare, lambda: files(repository / "build" / "small"))
    assert outcomes == {False, True}, "both sides of the exchange were seen"


def test_killed_first_build_leaves_no_tree_or_all(tmp_path, repository):
    def prepare():
        shutil.rmtree(repository / "build", ignore_errors=True)

    # The same calls as in a rebuild; what differs is what a rename replaces.
    held(tmp_path, repository, ["build"], prepare, lambda: files(repository / "build" / "small"), only_rare=True)


@pytest.mark.parametrize(
    "before",
    [
        "another lock",
        pytest.param(
            "no lock",
            marks=pytest.mark.skipif(
                not os.environ.get("SMSPEC_EVERY_CALL"), reason="not in the sample: set SMSPEC_EVERY_CALL=1"
            ),
        ),
    ],
)
def test_killed_lock_leaves_the_old_file_or_the_new_one(tmp_path, repository, before):
    lock = repository / "smspec.lock"
    old = lock.read_bytes()
    shutil.copytree(repository / "smspec.lock.d", tmp_path / "old")
    (repository / "requirements.txt").write_text("numpy==2.2.0\n")
    words = ["lock", f"--digest=python:3.12-slim-bookworm={DIGEST}"]
    assert smspec(*words, cwd=repository).status == 0  # From now on the modules of the package are in the cache.

    def prepare():
        lock.unlink(missing_ok=True)
        shutil.rmtree(repository / "smspec.lock.d", ignore_errors=True)
        if before == "another lock":
            shutil.copytree(tmp_path / "old", repository / "smspec.lock.d")
            lock.write_bytes(old)
            lock.chmod(0o644)

    held(tmp_path, repository, words, prepare, lambda: files(repository).get("smspec.lock"), only_rare=True)


@pytest.mark.parametrize(
    "words", [["build", "--check"], ["validate"], ["render", "--dockerfile"], ["diff", "job.yaml", "job.yaml"]]
)
def test_killed_read_only_command_changes_no_file(tmp_path, repository, words):
    assert smspec("build", cwd=repository).status == 0
    assert points(tmp_path, words) == []
