""".dockerignore as a real engine reads it."""

import pytest

from smspec.workspace.ignore_rules import docker_patterns, ignored

pytest_plugins = ["support.docker_engine"]
pytestmark = pytest.mark.xdist_group("docker")  # one engine, where xdist is told to keep groups together

PATHS = [
    *("README.md", "train.py", "temp", "tempa", "a.go", "[x]", "b c.txt", "#hash", ".hidden"),
    *("docs/README.md", "docs/deep/a.md", "sub/temporary.txt", "sub/deep/temporary.txt", "sub/a.go", "sub/deep/a.go"),
    *("foo/bar", "x/foo/bar", "x/y/foo/bar/baz", "data/a/b/z", "data/z", "data/keep/me"),
]
PATTERNS = [
    ["*"],
    ["**"],
    ["*", "!train.py", "!docs"],
    ["*/temp*", "temp?", "# comment", "#hash"],
    ["**/*.go", "!sub/a.go"],
    ["docs", "!docs/deep", "docs/deep/*.md"],
    ["**/foo/bar"],
    ["foo/**", "x/**/bar"],
    ["data/**/z", "!data/z"],
    ["/train.py", "./docs/", "sub/../temp"],
    ["[a-t]*.*", "[^a-z]*"],
    ["\\[x\\]", "b c.txt", "  .hidden  "],
    ["*.md", "!README*.md", "! docs/deep/a.md", "**/keep"],
]


@pytest.fixture(scope="module")
def context(engine, tmp_path_factory):
    """The files, and a Dockerfile elsewhere that takes all that the engine lets through."""
    root = tmp_path_factory.mktemp("context")
    for path in PATHS:
        (root / "files" / path).parent.mkdir(parents=True, exist_ok=True)
        (root / "files" / path).touch()
    (root / "Dockerfile").write_text(f"FROM {engine.base}\nCOPY . /context/\n")
    return root


@pytest.mark.parametrize("patterns", PATTERNS, ids=",".join)
def test_engine_and_smspec_ignore_the_same_files(engine, context, patterns):
    (context / "files/.dockerignore").write_text("".join(f"{pattern}\n" for pattern in patterns))
    engine.docker("build", "--network=none", "-t", "context", "-f", context / "Dockerfile", context / "files")
    listed = engine.output("context", "find", "/context", "-type", "f", "-printf", "%P\n").splitlines()
    compiled = docker_patterns(patterns)
    taken = [path for path in [*PATHS, ".dockerignore"] if not ignored(compiled, path)]
    assert sorted(set(listed) - {".dockerignore"}) == sorted(set(taken) - {".dockerignore"})
