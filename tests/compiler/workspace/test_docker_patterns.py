"""Patterns of .dockerignore. tests/conformance/test_docker_context.py compares them with a real engine."""

import pytest

from smspec.workspace.git_patterns import git_patterns
from smspec.workspace.ignore_rules import docker_patterns, ignored


@pytest.mark.parametrize(
    ("lines", "path", "outcome"),
    [
        (["a"], "a", True),
        (["a"], "a/b/c", True),
        (["a"], "b/a", False),
        (["/a"], "a", True),
        (["a/"], "a/b", True),
        (["./a"], "a", True),
        (["b/../a"], "a", True),
        (["*/temp*"], "sub/temporary.txt", True),
        (["*/temp*"], "sub/deep/temporary.txt", False),
        (["temp?"], "tempa", True),
        (["temp?"], "temp", False),
        (["**/*.go"], "a.go", True),
        (["**/*.go"], "x/y/a.go", True),
        (["**/foo/bar"], "foo/bar", True),
        (["**"], "a/b", True),
        (["a/**"], "a/b/c", True),
        (["a/**/z"], "a/z", True),
        (["a/**/z"], "a/b/c/z", True),
        (["*.md", "!README.md"], "README.md", False),
        (["*.md", "!README*.md", "README-secret.md"], "README-secret.md", True),
        (["a", "!a/b"], "a/b", False),
        (["a", "!a/b"], "a/c", True),
        (["*", "!a"], "a/b/c", False),
        (["!a"], "a", False),
        (["# a"], "# a", False),
        (["  a  "], "a", True),
        (["! a"], "a", False),
        (["a", "! a"], "a", False),
        (["", "!", "   "], "a", False),
        (["[ab]c"], "bc", True),
        (["[^ab]c"], "bc", False),
        (["[^ab]c"], "xc", True),
        (["[a-c]x"], "bx", True),
        (["a[", "b"], "a[", False),
        (["[\\]]"], "]", True),
        (["[\\]a]b"], "ab", True),
        (["[\\-a]"], "-", True),
        (["[c-a]"], "b", False),
        (["[^c-a]"], "b", True),
        (["[]a]", "[a-]", "[-a]", "[\\", "[a", "[^", "[^]"], "a", False),
        (["a[^b]c"], "a/c", False),
        (["\\*a"], "*a", True),
        (["\\*a"], "xa", False),
        (["a\\"], "a\\", False),
        (["a.b"], "axb", False),
        (["a$b+(c)"], "a$b+(c)", True),
    ],
)
def test_last_match_decides(lines, path, outcome):
    assert ignored(docker_patterns(lines), path) is outcome


def test_many_consecutive_spans_match_fast():
    path = "/".join("abcdefghijklmnopqrstuvwxyz")
    assert not ignored(docker_patterns(["**/" * 30 + "no"]), path)
    assert git_patterns(["**/" * 30 + "no"]).verdict(path, False) is None
