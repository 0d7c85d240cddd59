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
    "line ends that a checkout brings back": (b"import os\r\nprint(1)\r\n", "*.py text eol=crlf", ""),
}


@pytest.mark.parametrize(("content", "line", "attribute"), STORED_ANEW.values(), ids=STORED_ANEW)
def test_file_that_git_normalizes_is_compared(content, line, attribute, home, tmp_path):
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
