"""Repositories of hostile pull requests: each refers to files outside."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from support.small_job import BUILT, write_job

MARK = "planted-8d1f0c"
"""Stands in every file that must not show."""

PLANTED = {
    "env": f"DB_PASSWORD={MARK}\n",
    "token": f"{MARK}\n",
    "creds.json": f'{{"private_key": "{MARK}"}}\n',
    "broken.yaml": f"a: [{MARK}\n",
    "policy.toml": f'{MARK} = "x"\n',
    "lock.json": f'{{"lock": 1, "images": {{"{MARK}": 7}}}}\n',
    "spec.yaml": f"smspec: v1\n{MARK}: 1\n",
    "train.py": f"import argparse\np = argparse.ArgumentParser()\np.add_argument('--{MARK}')\np.parse_args()\n",
    "ignore": f"{MARK}\n*\n",
    "Dockerfile": f"FROM {MARK}\n",
}
"""What lies beside the repository."""

Attack = Callable[[Path, str], None]


def plant(top: Path) -> Path:
    """Write the secrets next to a future repository, and one into its ``.git``; return its path."""
    (top / "secrets").mkdir(parents=True)
    for name, content in PLANTED.items():
        (top / "secrets" / name).write_text(content)
    return top / "repository"


def spec(root: Path, more: str = "", old: str = "", new: str = "") -> None:
    """Write the job, with more at its end, or with one thing in place of another."""
    write_job(root, (BUILT.replace(old, new) if old else BUILT) + more)


def link(path: Path, target: str) -> None:
    """Make a link, instead of what is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_symlink() or path.exists():
        path.unlink()
    path.symlink_to(target)


def _below(root: Path, name: str, target: str) -> str:
    """Return a target, as seen from the top of the repository, as a file in it names it."""
    return target if os.path.isabs(target) else os.path.relpath(root / target, (root / name).parent)


def linked(name: str, more: str = "", old: str = "", new: str = "") -> Attack:
    """Return the attack that a file ``name`` is a link."""

    def attack(root: Path, target: str) -> None:
        spec(root, more, old, new)
        link(root / name, _below(root, name, target))

    return attack


def written(more: str, old: str = "", new: str = "", **files: str) -> Attack:
    """Return the attack that puts a path into a spec, for ``TARGET``, or into another file."""

    def attack(root: Path, target: str) -> None:
        spec(root, more.replace("TARGET", target), old, new.replace("TARGET", target))
        for name, content in files.items():
            (root / name.replace("__", ".")).write_text(content.replace("TARGET", target))

    return attack


REQUIREMENTS = (
    'image: {base: "python:3.12-slim-bookworm"}',
    'image: {base: "python:3.12-slim-bookworm", python_requirements: TARGET}',
)
OWN_REQUIREMENTS = (REQUIREMENTS[0], REQUIREMENTS[1].replace("TARGET", "r.txt"))


def directory_as_source(root: Path, target: str) -> None:
    spec(root, "", "source: src/", f"source: {os.path.dirname(target) or '.'}/")


def linked_directory_as_source(root: Path, target: str) -> None:
    spec(root, "", "source: src/", "source: code/")
    (root / "code").symlink_to(os.path.dirname(target) or ".")


def linked_directory_of_a_base(root: Path, target: str) -> None:
    spec(root, f"extends: [org/{os.path.basename(target)}]\n")
    (root / "org").symlink_to(os.path.dirname(target) or ".")


def base_of_a_base(root: Path, target: str) -> None:
    spec(root, "extends: [base.yaml]\n")
    (root / "base.yaml").write_text(f"smspec: v1\nextends: [{target}]\n")


def links_in_a_chain(root: Path, target: str) -> None:
    spec(root, "extends: [a.yaml]\n")
    (root / "a.yaml").symlink_to("b.yaml")
    (root / "b.yaml").symlink_to("sub/../c.yaml")
    (root / "sub").mkdir()
    link(root / "c.yaml", target)


def planted_git(root: Path, target: str) -> None:
    spec(root / "jobs", f"extends: [{_below(root, 'jobs/job.yaml', target)}]\n")
    (root / "jobs/.git").write_text("gitdir: /\n")
    (root / "jobs/smspec.toml").touch()


def last_build(name: str) -> Attack:
    """Return the attack that a file of a build, which was committed, is a link."""

    def attack(root: Path, target: str) -> None:
        from support.smspec_command import smspec

        spec(root)
        assert smspec("build", cwd=root).status == 0
        link(root / "build/small" / name, _below(root, f"build/small/{name}", target))

    return attack


ATTACKS: dict[str, Attack] = {
    "base": written("extends: [TARGET]\n"),
    "base-that-is-a-link": linked("base.yaml", "extends: [base.yaml]\n"),
    "base-of-a-base": base_of_a_base,
    "links-in-a-chain": links_in_a_chain,
    "directory-of-a-base": linked_directory_of_a_base,
    "spec": linked("job.yaml"),
    "another-spec": linked("jobs/other.yaml"),
    "policy": linked("smspec.toml"),
    "policy-in-pyproject": linked("pyproject.toml"),
    "lock": linked("smspec.lock"),
    "requirements": written("", *REQUIREMENTS),
    "requirements-that-are-a-link": linked("r.txt", "", *OWN_REQUIREMENTS),
    "requirements-that-include": written("", *OWN_REQUIREMENTS, r__txt="-r TARGET\n"),
    "requirements-that-constrain": written("", *OWN_REQUIREMENTS, r__txt="-c TARGET\nnumpy\n"),
    "gitignore": linked(".gitignore"),
    "gitignore-of-the-source": linked("src/.gitignore"),
    "dockerignore": linked("src/.dockerignore"),
    "source": directory_as_source,
    "source-that-is-a-link": linked_directory_as_source,
    "file-of-the-source": linked("src/util.py"),
    "script": linked("src/train.py"),
    "script-elsewhere": written("", "entry_point: train.py", "entry_point: TARGET"),
    "spec-in-the-source": linked("src/job.yaml"),
    "mark-of-a-build-in-the-source": linked("src/old/manifest.json"),
    "data": written("channels: {train: {s3: 's3://b/c', local: TARGET}}\n"),
    "build-secret": written(
        "", REQUIREMENTS[0], REQUIREMENTS[1].replace("python_requirements: TARGET", "secrets: {A: {file: TARGET}}")
    ),
    "planted-git": planted_git,
    "last-build": last_build("create-training-job.json"),
    "dockerfile-of-the-last-build": last_build("Dockerfile"),
    "manifest-of-the-last-build": last_build("manifest.json"),
}

TARGETS = ("/proc/self/environ", ".git/config", *(f"../secrets/{name}" for name in PLANTED))
