"""The files that are excluded from every source unless `source.ignore` includes them with ``!``, tracked by git or not.

The table is that in docs/spec-reference.md: names, ``*`` at one end of a name, ``/`` after names of directories.
"""

from __future__ import annotations

import os

CREDENTIALS = "credentials"
ENVIRONMENTS = "virtual environments"
EXPERIMENTS = "experiment logs"

DEFAULT_IGNORES: dict[str, str] = {
    CREDENTIALS: ".env .env.* .envrc .aws/ .ssh/ .gnupg/ .kube/ .kaggle/ .netrc .pypirc .git-credentials .htpasswd"
    " id_rsa id_dsa id_ecdsa id_ed25519 *.ppk .boto .s3cfg .databrickscfg",
    ENVIRONMENTS: ".venv/ .conda/ .pixi/ node_modules/",
    EXPERIMENTS: "wandb/ mlruns/ mlartifacts/ lightning_logs/ .neptune/ .aim/ .guild/ catboost_info/",
    "caches": "__pycache__/ *.pyc *.pyo .pytest_cache/ .mypy_cache/ .ruff_cache/ .hypothesis/ .tox/ .nox/ .cache/"
    " .eggs/ *.egg-info/ .ipynb_checkpoints/ .coverage .coverage.* htmlcov/ .terraform/",
    "version control": ".git .hg/ .svn/ .bzr/ CVS/",
    "editors": ".idea/ .vscode/ .vs/ .fleet/ .spyproject/ .settings/ *.swp *.swo *~ .#* *.sublime-workspace",
    "operating systems": ".DS_Store ._* __MACOSX/ Thumbs.db desktop.ini .directory .Trash-*",
}
"""Group → names. A directory with `pyvenv.cfg` or `conda-meta` in it is a virtual environment whatever its name."""

KEPT = (".env.example", ".env.sample", ".env.template", ".env.dist")
"""Names that match a pattern of the table, but contain no secrets."""

WORTH_NAMING = (CREDENTIALS, ENVIRONMENTS, EXPERIMENTS)
"""Groups that a script may need; the others are never missed."""

_MARKS_OF_ENVIRONMENTS = ("pyvenv.cfg", "conda-meta")

_NAMES: dict[str, str] = {}
_BEGINNINGS: dict[str, str] = {}
_ENDS: dict[str, str] = {}
for _group, _patterns in DEFAULT_IGNORES.items():
    for _pattern in _patterns.split():
        _table = _BEGINNINGS if _pattern[-1] == "*" else _ENDS if _pattern[0] == "*" else _NAMES
        _table[_pattern.strip("*")] = _group


def group_of(name: str, origin: str | None, is_directory: bool) -> str | None:
    """Return the group of the table for a file or directory; None if it is sent.

    ``origin`` is its path; None for one outside of the repository, which is never read.
    """
    if name in KEPT:
        return None
    for kind in (name, f"{name}/") if is_directory else (name,):
        if kind in _NAMES:
            return _NAMES[kind]
        for beginning, group in _BEGINNINGS.items():
            if kind.startswith(beginning):
                return group
        for end, group in _ENDS.items():
            if kind.endswith(end):
                return group
    if (
        origin is not None
        and is_directory
        and any(os.path.lexists(os.path.join(origin, mark)) for mark in _MARKS_OF_ENVIRONMENTS)
    ):
        return ENVIRONMENTS
    return None
