"""A link in place of a file or a directory, or one with another target: the content that it leads to is compared."""

import json
import os

import pytest

from support.git_repository import commit, repository
from support.small_job import write_job
from support.smspec_command import smspec

CHANGES = {  # path, target of the link, files that differ
    "file by a link": ("src/train.py", "other.py", {"train.py changed"}),
    "directory by a link": ("src/lib", "more", {"lib/a.py changed"}),
    "source by a link": ("src", "alt", {"train.py changed", "lib/a.py is gone", "more/a.py is gone"}),
    "link by another link": ("src/link.py", "train.py", {"link.py changed"}),
    "link to a directory by another": ("src/way", "more", {"way/a.py changed"}),
}


@pytest.mark.parametrize("which", CHANGES)
def test_content_behind_a_new_link_is_compared(tmp_path, which):
    home = repository(tmp_path / "home")
    write_job(home / "jobs", **{"src/other.py": "print(2)\n", "src/lib/a.py": "x = 1\n", "src/more/a.py": "x = 2\n"})
    (home / "jobs/src/link.py").symlink_to("other.py")
    (home / "jobs/src/way").symlink_to("lib")
    for name in ("train.py", "other.py", "link.py"):
        (home / "jobs/alt").mkdir(exist_ok=True)
        (home / "jobs/alt" / name).write_text("print(2)\n")
    commit(home)
    path, target, expected = CHANGES[which]
    os.rename(home / "jobs" / path, home / "old")
    (home / "jobs" / path).symlink_to(target)
    done = smspec("diff", "--base", "HEAD", "--format", "json", "jobs", cwd=home)
    changes = [change["what"].replace("`", "") for job in json.loads(done.out) for change in job["changes"]]
    assert done.status == 1 and all(any(one in what for what in changes) for one in expected), changes
    assert "checked 1 job" in smspec("validate", "--changed", "HEAD", "jobs", cwd=home).err
