"""Ways in which a pull request could make git run a program, or show another history than that of the repository.

Every attack is on a repository whose branch `topic` is checked out: there, the job has the role Admin, 20 p4d
instances, and 100 hours, unlike on `main`.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from support.git_repository import commit, git, repository
from support.review.diff_outcomes import rewrite
from support.small_job import BUILT, write_job


class Place(NamedTuple):
    """The repository, a program that must not run, and the file that it would write."""

    home: Path
    program: Path
    ran: Path


Attack = Callable[[Place], None]


def place_of(directory: Path) -> Place:
    """Make the repository; `jobs` has the job."""
    home = repository(directory / "home")
    write_job(home / "jobs")
    commit(home)
    git(home, "checkout", "-q", "-b", "topic")
    spend(home / "jobs/job.yaml")
    commit(home)
    return Place(home, program_at(directory / "program", directory / "ran"), directory / "ran")


def program_at(path: Path, ran: Path) -> Path:
    """Write a program that does what git may ask of a filter, after it has written a file."""
    path.write_text(f"#!/bin/sh\n: > '{ran}'\nexec cat\n")
    path.chmod(0o755)
    return path


def spend(spec: Path) -> None:
    """Write what a reviewer must see into the job."""
    rewrite(spec, "role/SageMakerTraining", "role/Admin")
    rewrite(spec, "{instance_type: ml.m5.large, count: 1,", "{instance_type: ml.p4d.24xlarge, count: 20,")
    rewrite(spec, ", volume: 10GB}\n", "}\nstopping: {max_runtime: 100h}\n")


def settings(program: Path) -> str:
    """Return settings of git that name a program wherever one can be named."""
    return f"""
[core]
\tfsmonitor = "{program}"
\thooksPath = "{program.parent}/hooks"
\tsshCommand = "{program}"
\tgitProxy = "{program}"
\taskPass = "{program}"
\tpager = "{program}"
\teditor = "{program}"
\talternateRefsCommand = "{program}"
[credential]
\thelper = "!{program}"
[diff]
\texternal = "{program}"
[diff "d"]
\ttextconv = "{program}"
\tcommand = "{program}"
[filter "x"]
\tclean = "{program}"
\tsmudge = "{program}"
\trequired = true
[filter "a=b"]
\tprocess = "{program}"
\trequired = true
[pager]
\tls-tree = "{program}"
\trev-parse = "{program}"
[alias]
\tls-tree = "!{program}"
\tstatus = "!{program}"
[gpg]
\tprogram = "{program}"
[protocol "ext"]
\tallow = always
[uploadpack]
\tpackObjectsHook = "{program}"
"""


ATTRIBUTES = "* filter=x diff=d\n*.yaml filter=a=b\n"


def bare(directory: Path, place: Place, config: str) -> None:
    """Add the files of a repository to a directory: at its `main`, everything is as it is in the directory now."""
    other = repository(place.home.parent / f"other-{directory.name}")
    shutil.copytree(directory, other, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".git"))
    commit(other)
    git(other, "repack", "-adq")
    git(other, "pack-refs", "--all")
    for name in ("HEAD", "index", "packed-refs", "objects"):
        found = other / ".git" / name
        (shutil.copytree if found.is_dir() else shutil.copy)(found, directory / name)
    (directory / "refs").mkdir()
    (directory / "refs/keep").touch()
    (directory / "config").write_text("[core]\n\trepositoryFormatVersion = 0\n" + config + settings(place.program))
    (directory / ".gitattributes").write_text(ATTRIBUTES)


def embedded(config: str) -> Attack:
    def attack(place: Place) -> None:
        bare(place.home / "jobs", place, config)
        commit(place.home)

    return attack


def embedded_above(place: Place) -> None:
    """The job is in the working tree of the embedded repository, but not at its top."""
    (place.home / "team").mkdir()
    git(place.home, "mv", "jobs", "team/jobs")
    (place.home / "jobs").symlink_to("team/jobs")
    bare(place.home / "team", place, '\tbare = false\n\tworktree = "."\n')
    commit(place.home)


def pointing(kind: str, target: str) -> Attack:
    """`.git` of the directory leads to files that the outer repository tracks."""

    def attack(place: Place) -> None:
        jobs = place.home / "jobs"
        (jobs / target).mkdir(exist_ok=True)
        shutil.copytree(jobs, jobs / target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("evil"))
        bare(jobs / target, place, "\tbare = false\n")
        commit(place.home)
        if kind == "file":
            (jobs / ".git").write_text(f"gitdir: {target}\n")
        else:
            (jobs / ".git").symlink_to(target)

    return attack


def marked(content: str | None, link: str = "") -> Attack:
    """`.git` of the directory is a file with this content, a link, or an empty directory."""

    def attack(place: Place) -> None:
        marker = place.home / "jobs/.git"
        if link:
            marker.symlink_to(link)
        elif content is None:
            marker.mkdir()
        else:
            git(place.home, "worktree", "add", "-q", "--detach", "../linked", "topic")
            marker.write_text(content.format(home=place.home))

    return attack


def attribute_macro(place: Place) -> None:
    """The attribute of a filter has another name, after a byte order mark."""
    (place.home / ".gitattributes").write_bytes(b"\xef\xbb\xbf[attr]x filter=x\n* x\n")
    with open(place.home / ".git/config", "a") as file:
        file.write(settings(place.program))
    (place.home / "jobs/job.yaml").touch()


def nested(place: Place) -> None:
    """A whole repository, with everything that it can have, where the job is."""
    jobs = place.home / "jobs"
    repository(jobs)
    commit(jobs)
    with open(jobs / ".git/config", "a") as file:
        file.write(settings(place.program))
    (jobs / ".git/info").mkdir(exist_ok=True)
    (jobs / ".git/info/attributes").write_text(ATTRIBUTES)


def submodule(place: Place) -> None:
    """A stranger's repository, whose `main` is what the pull request wants."""
    other = repository(place.home.parent / "stranger")
    shutil.copytree(place.home / "jobs", other, dirs_exist_ok=True)
    commit(other)
    git(place.home, "rm", "-q", "-r", "jobs")
    modules = f'[submodule "jobs"]\n\tpath = jobs\n\turl = {other}\n'
    (place.home / ".gitmodules").write_text(modules)
    git(place.home, "-c", "protocol.file.allow=always", "clone", "-q", str(other), "jobs")
    git(place.home, "add", "jobs")
    commit(place.home)
    git(place.home, "submodule", "absorbgitdirs")
    (place.home / ".gitmodules").write_text(f"{modules}\tupdate = !{place.program}\n")


def worktree_of_another(place: Place) -> None:
    """A linked working tree of a repository that is not the one under review."""
    other = repository(place.home.parent / "stranger")
    shutil.copytree(place.home / "jobs", other, dirs_exist_ok=True)
    commit(other)
    shutil.rmtree(place.home / "jobs")
    git(other, "worktree", "add", "-q", "--detach", str(place.home / "jobs"))


def configured(place: Place) -> None:
    """The user has filters and programs; the pull request says what they are for."""
    with open(place.home / ".git/config", "a") as file:
        file.write(settings(place.program))
    for name in ("pre-commit", "post-index-change", "reference-transaction", "post-checkout"):
        program_at_hook = place.program.parent / "hooks" / name
        program_at_hook.parent.mkdir(exist_ok=True)
        program_at(program_at_hook, place.ran)
    attributes(place.home)


def attributes(home: Path) -> None:
    """Commit attributes without a filter, and make each file look as if it had changed."""
    (home / ".gitattributes").write_text(ATTRIBUTES)
    for path in [home / ".gitattributes", *(home / "jobs").rglob("*")]:
        path.touch()


def included(condition: str) -> Attack:
    """The user's settings include a file that the repository tracks."""

    def attack(place: Place) -> None:
        (place.home / "team.gitconfig").write_text(settings(place.program))
        (place.home / "more").write_text('[include]\n\tpath = "team.gitconfig"\n')
        commit(place.home)
        with open(place.home / ".git/config", "a") as file:
            file.write(
                f"[{condition.format(place.home)}]\n\tpath = ../more\n[core]\n\tattributesFile = more-attributes\n"
            )
        (place.home / "more-attributes").write_text(ATTRIBUTES)
        attributes(place.home)

    return attack


def worktree_settings(place: Place) -> None:
    git(place.home, "config", "extensions.worktreeConfig", "true")
    (place.home / ".git/config.worktree").write_text(settings(place.program))
    attributes(place.home)


def attributes_of_the_repository(place: Place) -> None:
    configured(place)
    (place.home / ".gitattributes").unlink()
    (place.home / ".git/info").mkdir(exist_ok=True)
    (place.home / ".git/info/attributes").write_text(ATTRIBUTES)


def replaced(what: str) -> Attack:
    """An object of `main` is replaced by that of `topic`."""

    def attack(place: Place) -> None:
        old, new = (git(place.home, "rev-parse", f"{branch}{what}") for branch in ("main", "topic"))
        git(place.home, "update-ref", f"refs/replace/{old}", new)

    return attack


def ambiguous(*words: str) -> Attack:
    """Another ref is called `main`, and git would take it."""

    def attack(place: Place) -> None:
        git(place.home, *words)

    return attack


def other_working_tree(place: Place) -> None:
    """`core.worktree` leads to a directory in which nothing has changed."""
    elsewhere = place.home.parent / "elsewhere"
    git(place.home, "worktree", "add", "-q", "--detach", str(elsewhere), "main")
    (elsewhere / ".git").unlink()
    git(place.home, "config", "core.worktree", str(elsewhere))


def promised(url: str) -> Attack:
    """An object of `main` is missing, and a remote repository promises it: git would run what it is told to fetch."""

    def attack(place: Place) -> None:
        home = place.home
        blob = git(home, "rev-parse", "main:jobs/job.yaml")
        (home / ".git/objects" / blob[:2] / blob[2:]).unlink()
        git(home, "config", "core.repositoryFormatVersion", "1")
        git(home, "config", "extensions.partialClone", "origin")
        for name, value in {
            "promisor": "true",
            "url": url.format(program=place.program, home=home),
            "uploadpack": str(place.program),
            "partialclonefilter": "blob:none",
        }.items():
            git(home, "config", f"remote.origin.{name}", value)
        with open(home / ".git/config", "a") as file:
            file.write(settings(place.program))

    return attack


def unseen(*words: str) -> Attack:
    """The change is not committed, and git is told not to look."""

    def attack(place: Place) -> None:
        git(place.home, "checkout", "-q", "main")
        git(place.home, "update-index", *words, "jobs/job.yaml")
        spend(place.home / "jobs/job.yaml")

    return attack


def borrowed(place: Place) -> None:
    """Objects come from a repository of the stranger."""
    other = repository(place.home.parent / "stranger")
    write_job(other, BUILT)
    commit(other)
    (place.home / ".git/objects/info").mkdir(exist_ok=True)
    (place.home / ".git/objects/info/alternates").write_text(f"{other}/.git/objects\n")


def other_names(place: Place) -> None:
    """Names that are `.git` on some file systems, with all files of a repository."""
    bare(place.home / "jobs", place, '\tbare = false\n\tworktree = ".."\n')
    for name in ("git~1", ".GIT", ".git ", ".g\u200cit"):
        (place.home / "jobs" / name).mkdir()
        for part in ("HEAD", "config", "packed-refs", "index"):
            shutil.copy(place.home / "jobs" / part, place.home / "jobs" / name)
        shutil.copytree(place.home / "jobs/objects", place.home / "jobs" / name / "objects")
        shutil.copytree(place.home / "jobs/refs", place.home / "jobs" / name / "refs")


def breaking_names(place: Place) -> None:
    """Names that end a line of git's output, or look like one of its options."""
    for name in ("a\nH 100644 job.yaml", "--help", "-c core.fsmonitor=x", "\tx", 'quo"te', "\udcff"):
        (place.home / "jobs" / name).write_text("x")
    commit(place.home)


ATTACKS: dict[str, Attack] = {
    "embedded repository": embedded('\tbare = false\n\tworktree = "."\n'),
    "embedded bare repository": embedded("\tbare = true\n"),
    "embedded repository without a word about its working tree": embedded(""),
    "embedded repository of the whole tree": embedded('\tbare = false\n\tworktree = ".."\n'),
    "embedded repository above the job": embedded_above,
    "file .git to a directory inside": pointing("file", "evil"),
    "file .git to a directory outside": pointing("file", "../evil"),
    "link .git to a directory inside": pointing("link", "evil"),
    "link .git to a directory outside": pointing("link", "../evil"),
    "file .git to the repository itself": marked("gitdir: {home}/.git\n"),
    "file .git to a working tree of the repository": marked("gitdir: {home}/.git/worktrees/linked\n"),
    "file .git without a path": marked(""),
    "link .git to nothing": marked(None, link="nowhere"),
    "empty directory .git": marked(None),
    "macro of attributes": attribute_macro,
    "nested repository": nested,
    "submodule": submodule,
    "working tree of another repository": worktree_of_another,
    "filters of the user": configured,
    "settings that the repository tracks": included("include"),
    "settings on a condition": included('includeIf "gitdir:{}/"'),
    "settings of the working tree": worktree_settings,
    "attributes of the repository": attributes_of_the_repository,
    "replaced commit": replaced("^{commit}"),
    "replaced tree": replaced("^{tree}"),
    "replaced blob": replaced(":jobs/job.yaml"),
    "tag like the base": ambiguous("tag", "main", "topic"),
    "annotated tag like the base": ambiguous("tag", "-a", "-m", "x", "main", "topic"),
    "ref like the base": ambiguous("update-ref", "refs/main", "topic"),
    "another working tree": other_working_tree,
    "promised object, from a command": promised("ext::{program} %S"),
    "promised object, over ssh": promised("ssh://localhost/x"),
    "promised object, from a program for a file": promised("file://{home}"),
    "promised object, from a path": promised("{home}"),
    "promised object, from an unknown helper": promised("evil::x"),
    "file that git assumes unchanged": unseen("--assume-unchanged"),
    "file that git skips": unseen("--skip-worktree"),
    "alternates": borrowed,
    "other names of .git": other_names,
    "names that break lines": breaking_names,
}
