"""A pipe or a device in place of any file that a command reads: the command ends, and needs no memory for it."""

import os
import resource

import pytest

from support.git_repository import commit, repository
from support.small_job import BUILT, write_job
from support.smspec_command import smspec_process

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


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))


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
        done = smspec_process(*words, cwd=home, timeout=120, preexec_fn=limit)
        assert done.status in (0, 1, 2, 3), (words, done)
        assert "Traceback" not in done.err
