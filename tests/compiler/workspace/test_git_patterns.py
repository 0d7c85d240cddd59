"""Patterns of .gitignore, compared with git."""

import subprocess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from smspec.workspace.git_patterns import git_patterns
from support.examples import at_most

PATHS = [
    *("a", "ab", "b", "a.py", "b.py", "x y", "a]", "-", "!a", "#a", "a\\b"),
    *("sub/a", "sub/b.py", "sub/foo", "sub/deep/a.py", "sub/deep/foo", "foo/a", "foo/sub/b", "foo/sub/deep/ab"),
]
DIRECTORIES = ["sub", "sub/deep", "foo", "foo/sub", "foo/sub/deep"]
pieces = st.sampled_from(
    [
        *("a", "b", "ab", "foo", "sub", "deep", ".py", "*", "**", "***", "?", "/", "/", "!", "#", "\\", " ", "[ab]"),
        *("[!a]", "[^a-b]", "[", "]", "[]]", "[a-", "[[:alpha:]]", "[![:digit:]]", "[[:none:]]", "[\\]a]", "[--a]"),
    ]
)
lines = st.lists(st.lists(pieces, min_size=1, max_size=5).map("".join), min_size=1, max_size=4)


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A work tree with the files and directories."""
    root = tmp_path_factory.mktemp("repository")
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(root), "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", "init", "-q", root], check=True, env=environment)
    for directory in DIRECTORIES:
        (root / directory).mkdir()
    for path in PATHS:
        (root / path).touch()
    return root, environment


def matches_of_git(repository, patterns, paths):
    """Return the last matching pattern of git for each path."""
    root, environment = repository
    (root / ".gitignore").write_bytes("\n".join(patterns).encode())
    done = subprocess.run(
        ["git", "check-ignore", "--no-index", "--verbose", "--non-matching", "-z", "--stdin"],
        cwd=root,
        env=environment,
        input="\0".join(paths).encode(),
        capture_output=True,
    )
    assert done.returncode in (0, 1), done.stderr
    fields = done.stdout.decode().split("\0")
    return {
        fields[i + 3]: None if not fields[i] else not fields[i + 2].startswith("!")
        for i in range(0, len(fields) - 3, 4)
    }


@given(lines)
@settings(max_examples=at_most(200))
@example(["a**/b", "foo**/", "sub/d**/foo"])
@example(["**/foo", "!sub/foo"])
@example(["sub/**/a.py"])
@example(["foo/**", "!foo/sub/"])
@example(["a\\ ", "b  ", "\\#a", "\\!a"])
@example(["/a", "sub/a/", "*/foo"])
@example(["[]a]", "[!]a]", "x\\ y", "a\\\\b"])
def test_patterns_agree_with_git(repository, patterns):
    """Paths are tested level by level, like a walk that skips ignored directories."""
    compiled = git_patterns(patterns)
    theirs = matches_of_git(repository, patterns, [*PATHS, *DIRECTORIES])
    for path, expected in theirs.items():
        parts = path.split("/")
        for length in range(1, len(parts) + 1):
            step = "/".join(parts[:length])
            ours = compiled.verdict(step, step in DIRECTORIES)
            if ours:
                break
        assert (ours, path) == (expected, path)
