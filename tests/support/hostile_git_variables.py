"""Variables of git that lead to another repository, to a program, or to a file to write."""

from __future__ import annotations

import shutil
from pathlib import Path

from support.git_repository import commit, repository
from support.hostile_git import Place, program_at, settings

VARIABLES: dict[str, str] = {
    "GIT_DIR": "{other}/.git",
    "GIT_WORK_TREE": "{other}",
    "GIT_COMMON_DIR": "{other}/.git",
    "GIT_INDEX_FILE": "{other}/.git/index",
    "GIT_OBJECT_DIRECTORY": "{other}/.git/objects",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES": "{other}/.git/objects",
    "GIT_NAMESPACE": "x",
    "GIT_CEILING_DIRECTORIES": "{home}",
    "GIT_GRAFT_FILE": "{other}/grafts",
    "GIT_SHALLOW_FILE": "{other}/grafts",
    "GIT_REPLACE_REF_BASE": "refs/heads/",
    "GIT_CONFIG": "{other}/settings",
    "GIT_CONFIG_GLOBAL": "{other}/settings",
    "GIT_CONFIG_SYSTEM": "{other}/settings",
    "GIT_CONFIG_PARAMETERS": "'core.fsmonitor={program}' 'filter.x.clean={program}'",
    "GIT_ATTR_SOURCE": "topic",
    "GIT_EXTERNAL_DIFF": "{program}",
    "GIT_PAGER": "{program}",
    "GIT_EDITOR": "{program}",
    "GIT_SSH_COMMAND": "{program}",
    "GIT_SSH": "{program}",
    "GIT_ASKPASS": "{program}",
    "SSH_ASKPASS": "{program}",
    "GIT_PROXY_COMMAND": "{program}",
    "GIT_EXEC_PATH": "{other}",
    "GIT_TRACE": "{ran}",
    "GIT_TRACE2_EVENT": "{ran}",
    "GIT_LITERAL_PATHSPECS": "0",
    "GIT_ICASE_PATHSPECS": "1",
    "GIT_QUARANTINE_PATH": "{other}",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM": "1",
    "GIT_TEST_FSMONITOR": "{program}",
}
"""Variables of a hook or of a caller, about another repository, or with a program or a file to write."""


def other_repository(place: Place) -> Path:
    """Make a repository that has the job of `topic` on its `main`, for variables to lead to."""
    other = repository(place.home.parent / "other")
    shutil.copytree(place.home / "jobs", other / "jobs")
    head = commit(other)
    (other / "grafts").write_text(f"{head}\n")
    (other / "settings").write_text(settings(place.program))
    program_at(other / "git-ls-tree", place.ran)
    return other
