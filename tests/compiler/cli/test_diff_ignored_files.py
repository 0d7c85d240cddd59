"""Changes after which a source may send files that git ignores, and so no comparison has."""

import itertools
import random

import pytest

from smspec.pipeline.lifted_patterns import lifted
from smspec.workspace.git_patterns import git_patterns
from smspec.workspace.ignore_rules import docker_patterns, ignored
from support.git_repository import commit, git, repository
from support.small_job import BUILT, write_job
from support.smspec_command import smspec


@pytest.fixture
def home(tmp_path):
    """A repository with one job."""
    directory = repository(tmp_path / "home")
    write_job(directory)
    return directory


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("*.log\r\n", "`creds.json`"),
        ("", "`*.log` and 1 more"),
        ("creds.json\n*.log\n!a.log\n", "`!a.log`"),
        ("creds.json\n# more\n*.log\n*.tmp\n", None),
    ],
)
def test_ignored_file_that_a_source_may_send_is_code(home, text, shown):
    """Git has no such file, so the listings of both sides are equal."""
    (home / ".gitignore").write_text("*.log\ncreds.json\n")
    (home / "docs").mkdir()
    (home / "docs/.gitignore").write_text("x\n")
    commit(home)
    (home / ".gitignore").write_text(text)
    (home / "docs/.gitignore").write_text("")
    done = smspec("diff", "--base", "HEAD", "--fail-on", "code", cwd=home)
    assert done.status == (shown is not None)
    assert done.err.count("no longer ignored: ") == done.status
    assert shown is None or f".gitignore: fails `code`: no longer ignored: {shown}; " in done.err


SAME_LINES = {
    "another order": ("!k.key\nk.key\n", "k.key\n!k.key\n", "`!k.key`"),
    "a blank before it": ("k.key\n", " k.key\n", "`k.key`"),
    "a tab after it": ("k.key\n", "k.key\t\n", "`k.key`"),
    "behind another line end": ("k.key\n", "x\u2028k.key\n", "`k.key`"),
    "a stricter order": ("k.key\n!k.key\n", "!k.key\nk.key\n", None),
    "blanks after it": ("k.key\n", "# keys\n\nk.key  \r\n", None),
    "a repeated line": ("k.key\n!a.key\n", "k.key\n!a.key\nk.key\n", None),
}


@pytest.mark.parametrize(("old", "new", "shown"), SAME_LINES.values(), ids=SAME_LINES)
def test_lines_mean_what_git_reads_in_them(home, old, new, shown):
    (home / ".gitignore").write_text(old, newline="")
    commit(home)
    (home / ".gitignore").write_text(new, newline="")
    done = smspec("diff", "--base", "HEAD", "--fail-on", "code", cwd=home)
    assert done.status == (shown is not None)
    assert shown is None or f".gitignore: fails `code`: no longer ignored: {shown}; " in done.err


UNSENT = {
    "ignores itself": ("src/", "src/.gitignore", "*.key\n.gitignore\n", ".gitignore\n"),
    "in source.ignore": ("{dir: src/, ignore: [.gitignore]}", "src/lib/.gitignore", "*.key\n", ""),
    "of docker": ("{dir: src/, ignore: [.dockerignore]}", "src/.dockerignore", "*.key\n", None),
}


@pytest.mark.parametrize(("source", "place", "old", "new"), UNSENT.values(), ids=UNSENT)
def test_ignore_file_that_does_not_travel_is_compared(home, source, place, old, new):
    """A listing of the source does not have it, but it decides what else is in the listing."""
    (home / "job.yaml").write_text(BUILT.replace("source: src/", f"source: {source}"))
    (home / place).parent.mkdir(exist_ok=True)
    (home / place).write_text(old)
    git(home, "add", "--force", place)
    commit(home)
    if new is None:
        (home / place).unlink()
    else:
        (home / place).write_text(new)
    done = smspec("diff", "--base", "HEAD", "--fail-on", "code", cwd=home)
    assert f"smspec: {place}: fails `code`: no longer ignored: `*.key`; " in done.err


IGNORING = {
    "the source": (".gitignore", "*.key\nsrc/\n", True),
    "a directory above it": (".gitignore", "*.key\njobs\n", True),
    "in a new file": ("jobs/.gitignore", "*\n", True),
    "another directory": (".gitignore", "*.key\nlib/\n", False),
}


@pytest.mark.parametrize(("place", "text", "is_code"), IGNORING.values(), ids=IGNORING)
def test_source_that_git_ignores_as_a_whole_is_code(home, place, text, is_code):
    """A pattern more, and no pattern above the source counts in it: its author named it on purpose."""
    write_job(home / "jobs/ctr")
    (home / ".gitignore").write_text("*.key\n")
    commit(home)
    (home / place).write_text(text)
    git(home, "add", "--force", place)
    done = smspec("diff", "--base", "HEAD", "--fail-on", "code", "jobs", cwd=home)
    assert done.status == is_code
    assert (f"smspec: {place}: fails `code`: ignores the source `jobs/ctr/src` itself, " in done.err) == is_code


def test_source_that_git_ignored_before_is_the_same(home):
    """Nor is one that no pattern counted for."""
    (home / ".gitignore").write_text("*.key\nsrc/\n")
    git(home, "add", "--force", "src")
    commit(home)
    (home / ".gitignore").write_text("*.key\nsrc/\nsrc/*\n")
    assert smspec("diff", "--base", "HEAD", cwd=home).status == 0


def test_ignore_file_in_another_encoding_is_code(home):
    """Only an attribute changes, and git writes the file so that no pattern is left in it."""
    (home / ".gitignore").write_text("*.key\n")
    commit(home)
    (home / ".gitattributes").write_text("*.py text\n")
    assert smspec("diff", "--base", "HEAD", cwd=home).status == 0
    (home / ".gitattributes").write_text(".gitignore working-tree-encoding=UTF-16\n")
    (home / ".gitignore").unlink()
    git(home, "checkout", "--quiet", "--", ".gitignore")
    assert b"\0" in (home / ".gitignore").read_bytes()
    done = smspec("diff", "--base", "HEAD", "--fail-on", "code", cwd=home)
    assert "smspec: .gitignore: fails `code`: no longer ignored: `*.key`; " in done.err


def test_ignore_file_behind_a_link_is_compared(home):
    (home / "ignored").write_text("*.key\n")
    (home / ".gitignore").symlink_to("ignored")
    commit(home)
    (home / "ignored").write_text("*.tmp\n")
    done = smspec("diff", "--base", "HEAD", "--fail-on", "code", cwd=home)
    assert "smspec: .gitignore: fails `code`: no longer ignored: `*.key`; " in done.err
    (home / "ignored").write_text("*.key\n*.tmp\n")
    assert smspec("diff", "--base", "HEAD", cwd=home).status == 0


@pytest.mark.parametrize("target", ["../ignored", ".git/ignored"])
def test_ignore_file_outside_of_the_repository_is_not_read(home, target):
    (home / ".gitignore").write_text("*.key\n")
    commit(home)
    (home / ".gitignore").unlink()
    (home / ".gitignore").symlink_to(target)
    (home / target).write_text("*.key\n")
    done = smspec("diff", "--base", "HEAD", "--fail-on", "code", cwd=home)
    assert "no longer ignored: `*.key`; " in done.err
    (home / target).write_text("!secret\n")
    assert "secret" not in str(smspec("diff", "--base", "HEAD", cwd=home))


def test_long_pattern_is_cut(home):
    commit(home)
    (home / ".gitignore").write_text("!" + "k" * 4000)
    done = smspec("diff", "--base", "HEAD", "--format", "markdown", cwd=home)
    assert f"`!{'k' * 69}…`" in done.out
    assert len(done.out) < 1000


def test_ignore_file_that_travels_is_listed_once(home):
    (home / "src/.gitignore").write_text("*.key\n")
    commit(home)
    (home / "src/.gitignore").unlink()
    done = smspec("diff", "--base", "HEAD", "--fail-on", "code", cwd=home)
    assert "`.gitignore` is gone" in done.err
    assert "no longer ignored" not in done.out


@pytest.mark.parametrize("mark", ["pyvenv.cfg", "conda-meta/history"])
def test_mark_of_an_environment_that_is_gone_is_code(home, mark):
    place = home / "src/lib" / mark
    place.parent.mkdir(parents=True)
    place.write_text("")
    commit(home)
    assert smspec("diff", "--base", "HEAD", cwd=home).status == 0
    git(home, "rm", "--quiet", str(place))
    done = smspec("diff", "--base", "HEAD", "--fail-on", "code", cwd=home)
    assert f"smspec: src/lib/{mark}: fails `code`: no longer ignored: `lib/`; " in done.err


LINES = ["a", "!a", "*", "!*", "b/", "!b/", "b/a", "!b/a", "/a", "a ", " a", "#a", "", "!b", "**/a"]


@pytest.mark.parametrize("is_docker", [False, True], ids=["git", "docker"])
def test_change_that_lets_a_file_pass_is_found(is_docker):
    """No file that the old lines ignore passes the new ones, unless a line is named."""

    def passes(lines, path):
        if is_docker:
            return not ignored(docker_patterns(lines), path)
        steps = path.split("/")
        above = ["/".join(steps[:count]) for count in range(1, len(steps))]
        patterns = git_patterns(lines)
        return not any(patterns.verdict(one, True) for one in above) and not patterns.verdict(path, False)

    drawn = random.Random(25)
    found = 0
    for old, new in itertools.islice(
        iter(lambda: [drawn.choices(LINES, k=drawn.randint(0, 4)) for _ in "ab"], 0), 4000
    ):
        texts = ("\n".join(lines).encode() for lines in (old, new))
        named = lifted(*texts, is_docker=is_docker)
        let_through = [p for p in ("a", "b", "b/a", "b/b", " a") if passes(new, p) and not passes(old, p)]
        found += bool(let_through)
        assert named or not let_through, (old, new, let_through)
    assert found > 500
