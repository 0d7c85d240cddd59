"""Hostile pull requests: no data of the machine is shown or opened."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from smspec.diagnostics.formats import FORMATS
from smspec.render import TARGETS as RENDERED
from support.git_repository import commit, repository
from support.hostile_repositories import ATTACKS, MARK, TARGETS, plant, spec
from support.sampled_cases import IS_WHOLE
from support.small_job import write_job
from support.smspec_command import environment, smspec

DIGEST = f"python:3.12-slim-bookworm=sha256:{'0' * 64}"

COMMANDS = [
    *(["validate", ".", "--format", name] for name in (*FORMATS, "mermaid")),
    ["validate", "job.yaml", "--strict"],
    ["validate", "--api-json", "job.yaml"],
    ["build", "-o", "../out"],
    ["build", "--check"],
    *(["render", f"--{name}"] for name in RENDERED),
    *(["diff", "--base", "HEAD", "--format", name] for name in ("text", "markdown", "json")),
    ["diff", "--base", "HEAD", "job.yaml"],
    ["diff"],
    ["lock", "--digest", DIGEST],
    ["lock", ".", "--digest", DIGEST],
]


PAIRS = [
    (attack, target)
    for number, attack in enumerate(ATTACKS)
    for at, target in enumerate(TARGETS)
    if at < 2 or (number + at) % (5 if IS_WHOLE else 10) == 0
]
"""Every attack on the first two files, one with each half of the commands, and on a tenth of the others."""


def environment_entries():
    """Return the environment of this process from the kernel."""
    path = Path("/proc/self/environ")
    content = path.read_bytes().decode("utf-8", "replace") if path.exists() else ""
    return [entry for entry in content.split("\0") if len(entry) > 12]


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """A repository with one job, which is committed, beside secrets; its ``.git`` has one, too."""
    place = repository(plant(tmp_path_factory.mktemp("planted")))
    write_job(place)
    commit(place)
    with open(place / ".git/config", "a") as file:
        file.write(f'[http]\n\textraheader = "AUTHORIZATION: basic {MARK}"\n')
    return place


@pytest.fixture
def root(planted, tmp_path):
    """A copy of it, for one attack."""
    shutil.copytree(planted.parent, tmp_path, dirs_exist_ok=True)
    return tmp_path / planted.name


@pytest.mark.parametrize(("attack", "target"), PAIRS)
def test_machine_data_does_not_leak(attack, target, root):
    ATTACKS[attack](root, target)
    for words in COMMANDS[TARGETS.index(target) % 2 :: 2]:
        done = smspec(*words, cwd=root)
        said = done.out + done.err
        assert done.status in (0, 1, 2, 3), (words, said)
        assert MARK not in said, words
        for entry in environment_entries():
            assert entry not in said, words
        assert "Traceback" not in said


@pytest.mark.parametrize("attack", ["base", "base-that-is-a-link", "policy", "lock", "requirements", "script", "spec"])
@pytest.mark.parametrize("target", ["/proc/self/environ", "../secrets/env", ".git/config"])
def test_machine_data_does_not_leak_through_a_revision(attack, target, root):
    """What is hostile here is the base: a link in a tree is a blob with a path in it."""
    ATTACKS[attack](root, target)
    commit(root)
    for path in [*root.iterdir(), *(root / "src").iterdir()]:
        if path.is_symlink():
            path.unlink()
    spec(root, "retries: 2\n")
    for name in ("text", "markdown", "json"):
        done = smspec("diff", "--base", "HEAD", "--format", name, cwd=root)
        assert MARK not in done.out + done.err
        assert not [entry for entry in environment_entries() if entry in done.out + done.err]


OPENED = re.compile(r"\bopen(?:at2?)?\(.*\) += \d+<([^>]*)>")
RUN_EACH = """
import json, os, sys
from support.smspec_command import smspec

clean, *runs = json.load(sys.stdin)
for words in (["validate", "."], ["build", "-o", "../out"], ["diff"]):
    smspec(*words, cwd=clean)  # which loads what a command loads
for root, words in runs:
    open(os.path.join(root, "..", "begin")).close()
    if os.fork() == 0:
        print(*smspec(*words, cwd=root), flush=True)
        os._exit(0)
    os.wait()
"""
"""Runs each command in a fork, after it has opened the file that marks the lines that follow."""


def opened(clean, runs):
    """Return the real paths of all files that each command opens; no output may show a secret."""
    log = clean.parent / "strace.log"
    tracer = ["strace", "-f", "--seccomp-bpf", "-y", "-s", "4096", "-e", "trace=open,openat,openat2", "-o", str(log)]
    top = Path(__file__).parents[2]
    paths = os.pathsep.join(str(top / name) for name in ("tests", "compiler", "runtime", "schemas"))
    done = subprocess.run(
        [*tracer, sys.executable, "-c", RUN_EACH],
        input=json.dumps([str(clean), *([str(root), words] for root, words in runs)]),
        env=environment(PLANTED=MARK, PYTHONPATH=paths),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") >= len(runs)
    assert MARK not in done.stdout + done.stderr
    found = OPENED.findall(log.read_text(errors="replace"))
    starts = [found.index(str(root.parent / "begin")) for root, _ in runs]
    return [found[start + 1 : end] for start, end in zip(starts, [*starts[1:], None], strict=True)]


@pytest.mark.skipif(shutil.which("strace") is None, reason="there is no strace")
def test_files_outside_are_not_opened(planted, tmp_path):
    """Of all files that the kernel opens for a command, none is outside because of the spec."""
    if subprocess.run(["strace", "-f", "--seccomp-bpf", "-o", os.devnull, "true"], capture_output=True).returncode:
        pytest.skip("strace may not trace here")
    attacks = sorted(set(ATTACKS) - {"last-build"})
    runs = []
    for attack in ["none", "honest", *attacks]:
        root = shutil.copytree(planted.parent, tmp_path / attack) / planted.name
        (root.parent / "begin").touch()
        target = "../secrets/spec.yaml" if len(attack) % 2 else "/proc/self/environ"
        last = ["validate", "."] if len(attack) % 3 or attack == "honest" else ["build", "-o", "../out"]
        runs.append((root, ["diff"] if "last-build" in attack else last))
        if attack in ATTACKS:
            ATTACKS[attack](root, target)
    clean, honest, *runs = runs
    of_git, *each = opened(clean[0], [honest, *runs])
    usual = Counter(path.removeprefix(f"{honest[0]}/") for path in of_git if path.startswith(f"{honest[0]}/.git/"))
    for attack, (root, _), found in zip(attacks, runs, each, strict=True):
        assert any(path.endswith("/job.yaml") for path in found) or attack == "spec", attack
        assert [path for path in found if path.startswith(str(root.parent / "secrets"))] == [], attack
        read = Counter(path.removeprefix(f"{root}/") for path in found if path.startswith(f"{root}/.git/"))
        assert read - usual == Counter(), f"{attack}: more than git reads to list its files"
        assert [path for path in found if path.endswith("/environ")] == [], attack


def test_modules_of_the_current_directory_are_not_imported(root):
    """`python -m` looks there first; `copy` and `json` are imported late, or by libraries."""
    for name in ("copy", "json", "tomllib", "jsonschema", "jinja2", "yaml", "decimal", "org"):
        (root / f"{name}.py").write_text("open('../executed', 'a').write(__name__)\n")
    for words in (["validate", "."], ["render", "--dockerfile"], ["diff", "--base", "HEAD"]):
        command = [sys.executable, "-m", "smspec", *words]
        done = subprocess.run(command, cwd=root, env=environment(), capture_output=True, text=True, timeout=60)
        assert done.returncode in (0, 1), done.stderr
    assert not (root.parent / "executed").exists()
