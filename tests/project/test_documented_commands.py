"""Every command of the pages is one that smspec accepts; those that need no AWS, engine, or network run.

test_gitops_document.py, test_moving_in_document.py, and test_documents.py compare what longer sessions print, and
tests/conformance runs the steps of the examples.
"""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from smspec.cli import COMMANDS, import_module
from smspec.cli.console import Console
from smspec.cli.parser import CommandParser
from support.git_repository import commit, git, repository
from support.smspec_command import smspec

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "specs").glob("*/README.md"))]
LINE = re.compile(
    r"^(?: {4,})?(?:\$ )?(?:(?:[A-Z_]+=\S+ )*|.*\| |- run: |- |source <\()(smspec [a-z-][^|\n]*)$", re.MULTILINE
)
PLACEHOLDERS = re.compile(r"[\[\]]|…$|\)$")
RUN_HERE = {"validate", "build", "render", "diff", "fmt", "schema", "--completion"}
"""Commands that use no network, and change nothing but files of the repository that they are in."""
DIFFERS = {"diff", "fmt"}
"""Commands whose exit status is 1 if there are differences."""
ELSEWHERE = re.compile(r"--ack|--image|--push|org/|nightly|churn|jobs/ctr/|\$")
"""What a page shows with files of its own, or with an engine."""


def lines_of_blocks(page):
    """Yield the lines that are indented as code, and those between fences."""
    fence = ""
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.lstrip().startswith("```"):
            fence = "" if fence else line.strip()
        elif line.startswith("    ") or fence:
            yield line


def commands_of(page):
    """Yield the words of each command in a block, without comments, redirections, and what follows."""
    for line in lines_of_blocks(page):
        for command in LINE.findall(line):
            yield shlex.split(PLACEHOLDERS.sub("", re.split(r" [>|&<]| && ", command)[0]), comments=True)[1:]


CASES = sorted(
    {
        (page.name if page.parent.name != "specs" else page.parent.name, *words)
        for page in PAGES
        for words in commands_of(page)
    }
)
SHORT = [case for case in CASES if case[1] in RUN_HERE and not ELSEWHERE.search(" ".join(case))]


@pytest.mark.parametrize("case", [case for case in CASES if case[1] in COMMANDS], ids=" ".join)
def test_command_is_accepted(case):
    _, name, *words = case
    module = import_module(COMMANDS[name][0])
    parser = CommandParser(name, module.HELP, Console(None, None, {}))
    module.add_arguments(parser)
    parser.read(words)


def test_commands_were_found():
    assert len(CASES) > 80
    assert len(SHORT) > 15
    assert {case[1] for case in CASES} <= {*COMMANDS, "--completion", "--version"}
    assert {case[1] for case in CASES} >= {*COMMANDS} - {"lsp", "explain", "quotas"}


@pytest.fixture(scope="module")
def jobs(tmp_path_factory):
    """A repository with a job, an overlay `dev`, more specs, and a change since `origin/main`."""
    root = repository(tmp_path_factory.mktemp("pages") / "jobs")
    shutil.copytree(ROOT / "specs", root / "specs", ignore=shutil.ignore_patterns("build", "run", "data"))
    shutil.copytree(ROOT / "specs/script-mode", root, dirs_exist_ok=True, ignore=shutil.ignore_patterns("build", "run"))
    shutil.rmtree(root / "specs/script-mode")
    spec = (
        (root / "job.yaml")
        .read_text()
        .replace("../../schemas/smspec_schemas/job.v1.schema.json", ".smspec.schema.json")
    )
    (root / "job.yaml").write_text(f"{spec}overlays:\n  dev: {{hyperparameters: {{hp2: 3}}}}\n")
    (root / "smspec.toml").touch()
    commit(root)
    git(root, "update-ref", "refs/remotes/origin/main", "HEAD")
    (root / "job.yaml").write_text((root / "job.yaml").read_text().replace("hp2: 300", "hp2: 400"))
    commit(root)
    return root


@pytest.mark.parametrize("case", SHORT, ids=" ".join)
def test_command_runs(case, jobs, tmp_path):
    here = shutil.copytree(jobs, tmp_path / "jobs", symlinks=True)
    done = smspec(*case[1:], cwd=here)
    assert done.status in ({0, 1} if case[1] in DIFFERS else {0}), done.err + done.out
    assert "Traceback" not in done.err
