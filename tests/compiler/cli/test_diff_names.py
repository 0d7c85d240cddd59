"""Names of a pull request that are those of other files on a disk of macOS, which no comparison on Linux shows."""

import pytest

from support.git_repository import commit, repository
from support.small_job import BUILT, write_job
from support.smspec_command import smspec


@pytest.fixture
def home(tmp_path):
    home = repository(tmp_path / "home")
    write_job(home)
    commit(home)
    return home


def diff(home):
    return smspec("diff", "--base", "HEAD", "--fail-on", "security", cwd=home)


TWINS = {
    "a source": ("src/train.py", "src/Train.py", "src/Train.py"),
    "a directory": ("src/train.py", "SRC/more.py", "SRC"),
    "a base": ("b\u00e9.yaml", "be\u0301.yaml", "be\u0301.yaml"),
    "a policy": ("smspec.toml", "SMSPEC.toml", "SMSPEC.toml"),
}


@pytest.mark.parametrize(("old", "new", "shown"), TWINS.values(), ids=TWINS)
def test_file_with_the_name_of_another_on_macos_fails(home, old, new, shown):
    """git writes one over the other there, so the job may have the file that no comparison shows."""
    if (home / "SRC").exists():
        pytest.skip("this disk ignores case")
    for name, text in {"src/train.py": "pass\n", "b\u00e9.yaml": "smspec: v1\n", "smspec.toml": ""}.items():
        (home / name).write_text(text)
    (home / "job.yaml").write_text(BUILT + "extends: [b\u00e9.yaml]\n")
    commit(home)
    (home / new).parent.mkdir(exist_ok=True)
    for name in (new, "JOBS.md", "jobs.md"):
        (home / name).write_text("")
    twin = (old if "." in shown else "src").encode("unicode_escape").decode()
    done = diff(home)
    assert f"smspec: {shown}: fails `security`: on a disk that ignores case, as of macOS, this is `{twin}`" in done.err
    assert done.err.count("ignores case") == 1
    (home / new).rename(home / "other")
    assert "ignores case" not in diff(home).err


SPECIAL = {
    "a policy": ("SMSPEC.toml", "smspec.toml"),
    "a project": ("jobs/PyProject.toml", "jobs/pyproject.toml"),
    "a lockfile": ("jobs/ctr/Smspec.Lock", "jobs/ctr/smspec.lock"),
    "locked packages": ("Smspec.lock.d/a.txt", "smspec.lock.d"),
    "ignored files": ("jobs/.GITIGNORE", "jobs/.gitignore"),
    "a mark of direction": ("jobs/.git\u200eignore", "jobs/.gitignore"),
    "another directory": ("docs/.GITIGNORE", None),
    "another name": ("jobs/smspec.tom", None),
}


@pytest.mark.parametrize(("new", "shown"), SPECIAL.values(), ids=SPECIAL)
def test_file_that_is_one_of_settings_on_macos_fails(home, new, shown):
    """There need be no file with the right name: smspec or git reads this one there."""
    write_job(home / "jobs/ctr", BUILT.replace("name: small", "name: ctr"))
    commit(home)
    (home / new).parent.mkdir(exist_ok=True)
    (home / new).write_text("")
    done = diff(home)
    assert done.status == (shown is not None)
    assert ("as of macOS" in done.err) == (shown is not None)
    assert shown is None or f"this is `{shown}`, too" in done.err
