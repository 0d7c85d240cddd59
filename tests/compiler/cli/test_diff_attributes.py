"""Attributes of git that change what a new checkout has, and no file of the checkout that is compared."""

import pytest

from support.git_repository import commit, git, repository
from support.small_job import write_job
from support.smspec_command import smspec

FORMS = {
    "line ends": ("*.py text eol=crlf", "src/train.py", "code", "eol"),
    "line ends of other files": ("*.md text eol=crlf", "", "", ""),
    "automatic text": ("* text=auto", "", "", ""),
    "binary with line ends": ("*.py -text eol=crlf", "", "", ""),
    "line ends by the older name": ("*.py crlf eol=crlf", "src/train.py", "code", "eol"),
    "binary by the older name": ("*.py -crlf eol=crlf", "", "", ""),
    "a filter that writes": ("*.py filter=upper", "src/train.py", "code", "filter"),
    "a filter that is unknown": ("*.py filter=other", "", "", ""),
    "an expanded id": ("*.py ident", "src/train.py", "code", "ident"),
    "an encoding": ("*.py working-tree-encoding=UTF-16LE", "src/train.py", "security", "working-tree-encoding"),
    "the encoding that it has": ("*.py working-tree-encoding=UTF-8", "", "", ""),
    "the encoding of a spec": (
        "job.yaml working-tree-encoding=UTF-16LE",
        "job.yaml",
        "security",
        "working-tree-encoding",
    ),
}


@pytest.fixture
def home(tmp_path):
    directory = repository(tmp_path / "home")
    write_job(directory, **{"src__train.py": "print('$Id$')\n"})
    git(directory, "config", "filter.upper.smudge", "tr a-z A-Z")
    commit(directory)
    return directory


@pytest.mark.parametrize(("line", "place", "kind", "attribute"), FORMS.values(), ids=FORMS)
def test_file_in_another_form_is_listed(home, line, place, kind, attribute):
    (home / ".gitattributes").write_text(f"{line}\n")
    done = smspec("diff", "--base", "HEAD", "--fail-on", kind or "code,security", cwd=home)
    assert done.status == bool(place), done.err
    assert not place or f"smspec: {place}: fails `{kind}`: the attribute `{attribute}` of git " in done.err


def test_form_that_a_new_checkout_lacks_is_listed(home):
    """The file has CR LF here, as git wrote it before; a new checkout has what git stores."""
    (home / ".gitattributes").write_text("*.py text eol=crlf\n")
    (home / "src/train.py").unlink()
    git(home, "checkout", "--quiet", "--", "src/train.py")
    assert b"\r\n" in (home / "src/train.py").read_bytes()
    commit(home)
    git(home, "rm", "--quiet", ".gitattributes")
    done = smspec("diff", "--base", "HEAD", "--fail-on", "code", cwd=home)
    assert "`train.py` changed" in done.err


def test_new_checkout_shows_the_change_itself(home, tmp_path):
    base = git(home, "rev-parse", "HEAD")
    (home / ".gitattributes").write_text("*.py text eol=crlf\n")
    commit(home)
    git(tmp_path, "clone", "--quiet", str(home), "new")
    done = smspec("diff", "--base", str(base).strip(), "--fail-on", "code", cwd=tmp_path / "new")
    assert "`train.py` changed" in done.err and "of git" not in done.err


STORED_ANEW = {
    "mixed line ends": (b"import os\r\nprint(1)\n", "*.py text eol=crlf", "eol"),
    "line ends of Windows": (b"import os\r\nprint(1)\r\n", "*.py text", "text"),
    "line ends by the older name": (b"import os\r\nprint(1)\r\n", "*.py crlf", "crlf"),
    "line ends that a checkout brings back": (b"import os\r\nprint(1)\r\n", "*.py text eol=crlf", ""),
}


@pytest.mark.parametrize(("content", "line", "attribute"), STORED_ANEW.values(), ids=STORED_ANEW)
def test_files_that_git_stores_otherwise_are_listed(content, line, attribute, home, tmp_path):
    """The file stays as it is here; git stores its text, from which a new checkout may have another one."""
    (home / "src/train.py").write_bytes(content)
    commit(home)
    (home / ".gitattributes").write_text(f"{line}\n")
    commit(home)
    git(tmp_path, "clone", "--quiet", str(home), "new")
    is_same = (tmp_path / "new/src/train.py").read_bytes() == content
    assert is_same == (not attribute)
    done = smspec("diff", "--base", "HEAD~1", "--fail-on", "code", cwd=home)
    assert done.status == (0 if is_same else 1), done.err
    assert is_same or f"smspec: src/train.py: fails `code`: the attribute `{attribute}` of git " in done.err


def with_submodule(home, place):
    """Add a repository with one file as a submodule, and commit it."""
    kept = repository(home.parent / "kept")
    (kept / "weights.txt").write_text("1\n")
    commit(kept)
    git(home, "-c", "protocol.file.allow=always", "submodule", "add", "--quiet", str(kept), place)
    commit(home)


MODULES = {
    "not updated": ("src/kept", ("config", "--file=.gitmodules", "submodule.src/kept.update", "none"), True),
    "no longer listed": ("src/kept", ("rm", "--quiet", "--cached", ".gitmodules"), True),
    "updated otherwise": ("src/kept", ("config", "--file=.gitmodules", "submodule.src/kept.update", "rebase"), False),
    "in another branch": ("src/kept", ("config", "--file=.gitmodules", "submodule.src/kept.branch", "next"), False),
    "of no job": ("kept", ("config", "--file=.gitmodules", "submodule.kept.update", "none"), False),
}


HIDDEN = {
    "another section": "[x{0}]\npath = src/kept\nurl = {1}\n",
    "no name": "[submodule]\npath = src/kept\nurl = {1}\n",
    "a name that leads upwards": '[submodule "a/../b"]\npath = src/kept\nurl = {1}\n',
    "two places": "[{0}]\npath = src/kept\npath = other\nurl = {1}\n",
    "two names": '[{0}]\npath = src/kept\nurl = {1}\n[submodule "b"]\npath = src/kept\nurl = {1}\nupdate = none\n',
}


@pytest.mark.parametrize("text", HIDDEN.values(), ids=HIDDEN)
def test_submodule_that_git_ignores_is_listed(text, home, tmp_path):
    with_submodule(home, "src/kept")
    (home / ".gitmodules").write_text(text.format('submodule "src/kept"', tmp_path / "kept"))
    commit(home)
    git(tmp_path, "-c", "protocol.file.allow=always", "clone", "--quiet", "--recurse-submodules", str(home), "new")
    assert not (tmp_path / "new/src/kept/weights.txt").exists()
    done = smspec("diff", "--base", "HEAD~1", "--fail-on", "code", ".", cwd=home)
    assert done.status == 1, done.err
    assert "may not have the files of the submodule `src/kept`" in done.err


@pytest.mark.parametrize(("place", "change", "is_lost"), MODULES.values(), ids=MODULES)
def test_submodule_that_a_new_checkout_lacks_is_listed(place, change, is_lost, home, tmp_path):
    with_submodule(home, place)
    git(home, *change)
    if change[0] == "rm":
        (home / ".gitmodules").unlink()
    commit(home)
    git(tmp_path, "-c", "protocol.file.allow=always", "clone", "--quiet", "--recurse-submodules", str(home), "new")
    if place == "src/kept":
        assert (tmp_path / "new/src/kept/weights.txt").exists() is not is_lost
    for checkout in (home, tmp_path / "new"):
        done = smspec("diff", "--base", "HEAD~1", "--fail-on", "code", ".", cwd=checkout)
        assert done.status == is_lost, done.err
        assert not is_lost or "may not have the files of the submodule `src/kept`" in done.err
        assert "checked 1 job" in smspec("validate", "--changed", "HEAD~1", ".", cwd=checkout).err


@pytest.mark.parametrize("line", ["*.txt filter=lfs -text", "*.md filter=lfs -text"], ids=["used", "unused"])
def test_settings_of_git_lfs_are_listed(line, home):
    """Git LFS obeys the tracked file: with `fetchexclude`, a new checkout has pointers."""
    (home / "src/weights.txt").write_text("1\n")
    (home / ".gitattributes").write_text(f"{line}\n")
    commit(home)
    (home / ".lfsconfig").write_text("[lfs]\n\tfetchexclude = src\n")
    done = smspec("diff", "--base", "HEAD", "--fail-on", "code", ".", cwd=home)
    assert done.status == ("txt" in line), done.err
    assert done.status == 0 or "`src/weights.txt` may be a pointer there" in done.err
