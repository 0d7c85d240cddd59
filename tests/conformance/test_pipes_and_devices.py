"""A pipe or a device in place of any file that a command reads: the command ends, and needs no memory for it."""

import contextlib
import os
import resource
import subprocess

import pytest

from support.forked_command import start_command
from support.git_repository import commit, repository
from support.small_job import BUILT, write_job
from support.smspec_command import environment

OF_THE_TREE = [
    *("smspec.toml", "jobs/smspec.toml", "pyproject.toml", "jobs/pyproject.toml", "rules/team.yaml"),
    *("smspec.prices.json", "jobs/smspec.quotas.json", "smspec.lock", "jobs/smspec.lock", "smspec.lock.d"),
    *("jobs/job.yaml", "jobs/base.yaml", "jobs/other.yaml", "jobs/manifest.json", "jobs/requirements.txt"),
    *("jobs/src/train.py", "jobs/src/helper.py", "jobs/src/.dockerignore", "jobs/src/.gitignore", ".gitattributes"),
]
OF_GIT = [".gitignore", ".git/commondir", ".git/config", ".git/index"]
KINDS = {"pipe": os.mkfifo, "zero": lambda path: os.symlink("/dev/zero", path)}
COMMANDS = {"pipe": ["validate", "."], "zero": ["build", "jobs/job.yaml", "-o", "../built"]}
WITH_GIT = ["diff", "--base", "HEAD", "."]
RULE = "code: ORG101\ntitle: t\nwhy: w\nrequire: {retries: 2}\ncases: {right: [{retries: 2}], wrong: [{retries: 1}]}\n"


def ended(words, directory):
    """Return the exit status and standard error of a command that may have 2 GB."""
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with start_command(words, cwd=directory, env=environment(), **streams, text=True) as process:
        try:
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(process.pid, resource.RLIMIT_AS, (2 << 30, 2 << 30))
            _, err = process.communicate(timeout=120)
        finally:
            process.kill()
    return process.returncode, err


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", [*OF_THE_TREE, *OF_GIT])
def test_every_command_ends(tmp_path, place, kind):
    if kind == "pipe" and place in OF_GIT and not os.path.exists("/proc/self/stat"):
        pytest.skip("only /proc shows that git waits for the writer of a pipe")
    home = repository(tmp_path / "home")
    write_job(
        home / "jobs",
        f"{BUILT}extends: [base.yaml]\n",
        **{"base.yaml": "smspec: v1\nretries: 2\n", "requirements.txt": "six==1.16.0\n", "src/helper.py": ""},
    )
    (home / "rules").mkdir()
    (home / "rules/team.yaml").write_text(RULE)
    (home / "smspec.toml").write_text('rule_files = ["rules/*.yaml"]\n')
    commit(home)
    target = home / place
    target.parent.mkdir(exist_ok=True)
    target.unlink(missing_ok=True)
    KINDS[kind](target)
    for words in [WITH_GIT] if place in OF_GIT else [COMMANDS[kind], WITH_GIT]:
        status, err = ended(words, home)
        assert status in (0, 1, 2, 3), (words, err)
        assert "Traceback" not in err
