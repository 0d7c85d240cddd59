"""A revision is extracted without touching the working tree and without leaving its directory."""

import os
import shutil
from contextlib import ExitStack

import pytest

from smspec.workspace.git import GitFailed, repository_of
from smspec.workspace.revision import Revision
from smspec.workspace.source_listing import scan_source
from support.git_repository import GIT_VERSION, commit, commit_of, git, repository, tree_of


@pytest.fixture
def home(tmp_path):
    return repository(tmp_path / "home")


@pytest.fixture
def revision(tmp_path):
    """What brings a revision of a repository into a directory, as long as the test runs."""
    with ExitStack() as stack:

        def brought(home, name="HEAD"):
            directory = tmp_path / "revision"
            directory.mkdir()
            repository = repository_of(str(home))
            return Revision(repository, stack.enter_context(repository.objects()), name, str(directory))

        yield brought


def present(directory):
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*") if not path.is_dir())


def test_specs_are_extracted_first_and_sources_on_demand(home, tmp_path, revision):
    (home / "a/src").mkdir(parents=True)
    (home / "a/job.yaml").write_text("smspec: v1\n")
    (home / "a/src/train.py").write_text("1\n")
    (home / "large.bin").write_bytes(b"x" * 1000)
    commit(home)
    base = revision(home)
    assert present(tmp_path / "revision") == [".git", "a/job.yaml"]
    base.bring(base.path(str(home / "a/src")))
    assert present(tmp_path / "revision") == [".git", "a/job.yaml", "a/src/train.py"]


def test_extracted_files_equal_the_commit(home, revision):
    source = home / "src"
    source.mkdir()
    names = ["with\nbreak.py", "ünï.py", " blank ", "-dash"]
    for name in names:
        (source / name).write_bytes(name.encode() + b"\r\n\0")
    (source / "run.sh").write_text("#!/bin/sh\n")
    (source / "run.sh").chmod(0o755)
    (source / "link.py").symlink_to("run.sh")
    commit(home)
    expected = scan_source(str(source)).listing
    (source / "run.sh").write_text("changed since")
    base = revision(home)
    base.bring(base.path(str(source)))
    found = scan_source(base.path(str(source))).listing
    assert found.digest == expected.digest
    assert len(found.files) == 6


def test_attributes_and_filters_are_not_applied(home, tmp_path, revision):
    """`git archive` would leave files out and fill words in; a filter would run a program."""
    (home / ".gitattributes").write_text("*.py export-ignore export-subst filter=evil text eol=crlf ident\n")
    (home / "train.py").write_text("$Format:%H$ $Id$\n")
    commit(home)
    git(home, "config", "filter.evil.smudge", f"touch {tmp_path}/ran; cat")
    base = revision(home)
    base.bring(base.path(str(home)))
    assert (tmp_path / "revision/train.py").read_text() == "$Format:%H$ $Id$\n"
    assert not (tmp_path / "ran").exists()


def test_working_tree_is_unchanged(home, revision):
    (home / "job.yaml").write_text("smspec: v1\n")
    commit(home)
    (home / "job.yaml").write_text("smspec: v1\nname: other\n")
    (home / "new.yaml").write_text("staged")
    git(home, "add", "new.yaml")
    before = {path: path.stat().st_mtime_ns for path in home.rglob("*") if path.is_file()}
    status = git(home, "--no-optional-locks", "status", "--porcelain")
    revision(home)
    assert {path: path.stat().st_mtime_ns for path in home.rglob("*") if path.is_file()} == before
    assert git(home, "--no-optional-locks", "status", "--porcelain") == status


def test_hooks_and_watchers_do_not_run(home, tmp_path, revision):
    (home / "job.yaml").write_text("smspec: v1\n")
    commit(home)
    evil = tmp_path / "evil"
    evil.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    evil.chmod(0o755)
    for name in ("core.fsmonitor", "core.pager", "pager.ls-tree", "diff.external", "core.sshCommand"):
        git(home, "config", name, str(evil))
    for hook in ("post-checkout", "post-index-change", "reference-transaction"):
        (home / ".git/hooks").mkdir(exist_ok=True)
        (home / ".git/hooks" / hook).symlink_to(evil)
    revision(home)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "name",
    [b"..", b".", b".git", b".GIT", b"a/../../escaped.yaml", b"/absolute.yaml"],
    ids=["above", "itself", "repository", "repository in capitals", "above by a directory", "absolute"],
)
def test_names_leading_outside_are_skipped(home, tmp_path, name, revision):
    if b"/" in name:
        made = commit_of(home, [("100644", name, b"smspec: v1\n")])
    else:
        inner = tree_of(home, [("100644", b"escaped.yaml", b"smspec: v1\n")])
        made = commit_of(home, [("40000", name, inner)])
    revision(home, made)
    assert present(tmp_path / "revision") == [".git"]
    assert not list(tmp_path.rglob("escaped.yaml"))


TARGETS = ["/etc", "..", "../..", "a/../../..", "x/..", ".git/config", "", "a" * 5000]


@pytest.mark.parametrize("target", TARGETS)
def test_links_leading_outside_are_skipped(home, tmp_path, target, revision):
    made = commit_of(home, [("120000", b"link.yaml", target.encode())])
    revision(home, made)
    assert present(tmp_path / "revision") == [".git"]


@pytest.mark.parametrize(
    ("target", "leads_to"),
    [
        ("sub/x/../src", "sub/src"),
        ("sub/x/../../lib", "lib"),
        ("way/../src/a.py", "sub/src/a.py"),
        ("way/../../../outside", None),
        ("top/../outside", None),
        ("sub/x/k/../../src", None),
        ("missing/../lib", None),
        ("sub/x/../.git", None),
        ("round/../lib", None),
        ("sub/x/../../../home/lib", None),
        ("way/../../lib", "lib"),
    ],
)
def test_link_with_a_step_up_in_its_middle(home, target, leads_to, revision):
    """Not every directory of a revision is extracted, and the system takes `..` after a link from its target."""
    made = commit_of(
        home,
        [
            ("100644", b"sub/x/k", b"1"),
            ("100644", b"sub/src/a.py", b"2"),
            ("100644", b"lib", b"3"),
            ("120000", b"way", b"sub/x"),
            ("120000", b"top", b"."),
            ("120000", b"round", b"round"),
            ("120000", b"link.py", target.encode()),
        ],
    )
    found = revision(home, made)
    link = os.path.join(found.directory, "link.py")
    expected = None if leads_to is None else os.path.join(found.directory, leads_to)
    assert (os.path.realpath(link) if os.path.lexists(link) else None) == expected
    assert found.forms["link.py"] == f"link to {target}"


def test_link_inside_is_followed(home, tmp_path, revision):
    inner = tree_of(home, [("120000", b"job.yaml", b"../real.yaml")])
    made = commit_of(home, [("40000", b"a", inner), ("100644", b"real.yaml", b"smspec: v1\n")])
    revision(home, made)
    assert (tmp_path / "revision/a/job.yaml").read_text() == "smspec: v1\n"


def test_tree_with_a_link_writes_only_inside(home, tmp_path, revision):
    """A tree may have an entry twice: once as a link, once as a directory."""
    outside = tmp_path / "outside"
    outside.mkdir()
    inner = tree_of(home, [("100644", b"x.yaml", b"smspec: v1\n")])
    made = commit_of(home, [("120000", b"a", str(outside).encode()), ("40000", b"a", inner)])
    revision(home, made)
    assert list(outside.iterdir()) == []


def test_submodules_are_read_where_their_commits_are_here(home, tmp_path, revision):
    other = repository(tmp_path / "other")
    (other / "job.yaml").write_text("smspec: v1\n")
    (other / "train.py").write_text("1\n")
    (other / "up").symlink_to("../../README.md")
    commit(other)
    git(home, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other), "src/module")
    commit(home)
    base = revision(home)
    assert (base.submodules(base.directory), base.forms["src/module/train.py"]) == ((), "file")
    base.bring(base.path(str(home / "src")))
    assert present(tmp_path / "revision/src") == ["module/.git", "module/job.yaml", "module/train.py"]
    shutil.rmtree(tmp_path / "revision")
    git(home, "submodule", "deinit", "-q", "-f", "src/module")
    base = revision(home)
    assert base.submodules(base.path(str(home / "src"))) == ("src/module",)
    assert base.submodules(base.path(str(home / "elsewhere"))) == ()


def test_lfs_pointers_represent_their_files(home, revision):
    digest = "ab" * 32
    (home / "src").mkdir()
    (home / ".gitattributes").write_text("*.bin filter=lfs\n")
    (home / "src/weights.bin").write_text(
        f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize 12345\n"
    )
    commit(home)
    (home / "src/weights.bin").write_text("what Git LFS has put there")
    base = revision(home)
    base.bring(base.path(str(home / "src")))
    (file,) = base.listing(scan_source(base.path(str(home / "src"))).listing).files
    assert (file.sha256, file.size) == (digest, 12345)


@pytest.mark.parametrize("name", ["nowhere", "--output=x", "", "HEAD:job.yaml", "a\0b", "HEAD..HEAD"])
def test_missing_revision_is_reported(home, name, revision):
    (home / "job.yaml").write_text("smspec: v1\n")
    commit(home)
    with pytest.raises(GitFailed):
        revision(home, name)


def test_missing_repository_is_reported(tmp_path):
    with pytest.raises(GitFailed, match="is not in a git repository"):
        repository_of(str(tmp_path))


@pytest.mark.parametrize("variable", ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_OBJECT_DIRECTORY"])
def test_variables_of_another_repository_are_ignored(home, tmp_path, monkeypatch, variable):
    commit(home)
    monkeypatch.setenv(variable, str(tmp_path / "elsewhere"))
    assert repository_of(str(home)).top == os.path.realpath(home)


def test_variables_make_no_repository(home, tmp_path, monkeypatch):
    """What smspec reads follows from the specs, so a file `.git` has to name a repository that is kept elsewhere."""
    commit(home)
    (home / ".git").rename(tmp_path / "kept")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "kept"))
    monkeypatch.setenv("GIT_WORK_TREE", str(home))
    with pytest.raises(GitFailed, match="is not in a git repository"):
        repository_of(str(home))
    (home / ".git").write_text(f"gitdir: {tmp_path / 'kept'}\n")
    assert repository_of(str(home)).top == os.path.realpath(home)


@pytest.mark.skipif(GIT_VERSION < (2, 36), reason="needs git 2.36")
def test_partial_clone_is_not_fetched(home, tmp_path, revision):
    (home / "job.yaml").write_text("smspec: v1\nname: first\n")
    commit(home)
    (home / "job.yaml").write_text("smspec: v1\nname: second\n")
    commit(home)
    git(home, "config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--filter=blob:none", f"file://{home}", str(clone))
    with pytest.raises(GitFailed, match=r"partial clone .* run `git fetch --refetch --no-filter`"):
        revision(clone, "HEAD~1")
    git(clone, "fetch", "-q", "--refetch", "--no-filter")
    shutil.rmtree(tmp_path / "revision")
    assert revision(clone, "HEAD~1").path(str(clone))


def test_thousands_of_files_are_extracted(home, tmp_path, revision):
    (home / "src").mkdir()
    for number in range(1500):
        (home / f"src/{number}.py").write_text(f"{number}\n" * 50)
    commit(home)
    base = revision(home)
    base.bring(base.path(str(home / "src")))
    assert len(list((tmp_path / "revision/src").iterdir())) == 1500
    assert (tmp_path / "revision/src/1499.py").read_text().startswith("1499\n")


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="only /proc shows what git uses")
def test_pattern_that_git_never_ends_to_match_is_named(home, monkeypatch):
    (home / ".gitignore").write_text("**/" * 30 + "b\n")
    deep = home / "/".join("a" * 60) / "c/d"
    deep.mkdir(parents=True)
    (deep / "x.txt").write_text("")
    monkeypatch.setattr("smspec.source.git_command.MOST_PROCESSOR_SECONDS", 1)
    with pytest.raises(GitFailed, match=r"a pattern with many `\*\*` in `.gitignore`"):
        repository_of(str(home)).untracked()
