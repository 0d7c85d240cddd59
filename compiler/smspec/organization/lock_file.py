"""``smspec.lock``: one file for a repository, the nearest one in the directory of a spec or above.

The environment of an image in it has a requirements file: ``smspec.lock.d/<key>.txt``. With lockfiles in several
directories, an inner one adds entries, and changes none of an outer one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

from smspec.diagnostics import MOST, Diagnostic, InvalidInput, Note, Rule, file_at_fault
from smspec.diagnostics.quoting import quoted
from smspec.diagnostics.unseen_names import line_faults
from smspec.organization.organization_config import json_place
from smspec.plan import ImagePlan, NeededEnvironment
from smspec.plan.image_planning import environment_of
from smspec.source import SourceText
from smspec.spec.lock import NAME, Lock, LockedEnvironment, content_digest, environment_file
from smspec.workspace.boundary import Boundary, FileNotRead
from smspec.workspace.boundary_search import file_in
from smspec.workspace.path_targets import repository_top

LARGEST = 16 << 20
"""Bytes. An environment of 64 packages takes 5 kB, so this is room for 3,000; all else stays below 1 MiB."""

LARGEST_ENVIRONMENT = 1 << 20
"""Bytes of a file. With the hashes of every platform, 177 packages have a third of that."""

CONTRADICTING_LOCK = Rule("SM761", "lockfile that contradicts an outer one")

_PACKAGE = re.compile(
    r"(?P<name>[A-Za-z0-9][\w.-]*)(?:==(?P<version>\S+)| @ (?P<url>\S+))(?: \\|(?: --hash=sha256:[0-9a-f]{64})+)"
)
_CODING = r"#.*?coding[:=]"  # pip, `_internal/utils/encoding.py`: it would read another text
_HASH = r" {4}--hash=sha256:[0-9a-f]{64}(?: \\)?"

_SECTIONS = ("names", "images", "pythons", "requirements")


def lock_in(directory: str, _: Boundary) -> str | None:
    """Return the path of the lockfile in a directory itself, relative to the current one; or None."""
    return file_in(directory, NAME)


def first_lock_path(directory: str, elsewhere: str, boundary: Boundary) -> str:
    """Return the path for a new lock: at the top of the repository, outside of one ``elsewhere``."""
    top = repository_top(directory)
    if not boundary.contains(elsewhere if top is None else top):
        top = boundary.root
    return os.path.normpath(os.path.join(elsewhere if top is None else os.path.relpath(top), NAME))


def name_in_lock(file: str, lock: str) -> str:
    """Return the name of a requirements file in the lock at a path, independent of the current directory."""
    return os.path.relpath(file, os.path.dirname(lock) or os.curdir)


def read_lock(path: str, boundary: Boundary) -> Lock:
    """Return the content of a lock.

    Raise `InvalidInput`, with positions, if it is not valid; OSError if it is unreadable.
    """
    # Imported late: most repositories have no lock.
    from smspec.organization.lock_content import HELP, MALFORMED_LOCK, lock_content

    try:
        content = boundary.read_named(path, LARGEST)
    except FileNotRead as fault:
        finding = MALFORMED_LOCK.at((), f"{fault}", help="replace it with the file that `smspec lock` writes")
        raise file_at_fault(path, finding) from None
    if len(content) > LARGEST:
        large = MALFORMED_LOCK.at((), f"`{NAME}` is larger than {LARGEST >> 20} MiB", help=HELP)
        raise file_at_fault(path, large)
    return lock_content(path, content)


def needed_environment(
    image: ImagePlan,
    requirements: bytes | None,
    lock: str,
    environments: Mapping[str, LockedEnvironment],
    boundary: Boundary,
) -> NeededEnvironment | None:
    """Return the environment of an image in the lock at a path; None for an image that installs no packages."""
    key = environment_of(image, requirements)
    return None if key is None else environment_with_key(key, requirements or b"", lock, environments, boundary)


def environment_with_key(
    key: str, requirements: bytes, lock: str, environments: Mapping[str, LockedEnvironment], boundary: Boundary
) -> NeededEnvironment:
    """Return the environment with a key in the lock at a path. ``requirements``: the author's file."""
    locked = environments.get(key)
    if locked is None:
        return NeededEnvironment(key=key)
    content, fault = _content(os.path.join(os.path.dirname(lock), environment_file(key)), locked.digest, boundary)
    if content is not None and (fault := _strange_line(content, requirements, locked.packages)):
        content = None
    return NeededEnvironment(key=key, locked=locked, content=content, fault=fault)


def _strange_line(content: bytes, requirements: bytes, packages: Mapping[str, str]) -> str:
    """Return what is wrong with a file that `smspec lock` does not write so.

    It has the author's options about indexes, the packages of smspec.lock with their versions, or with the addresses
    of some, and hashes. Anything else would install what no review names; and installers replace ``${NAME}`` by a
    variable, so a stranger's line could send a secret.
    """
    # Imported late: few repositories have locked packages.
    from smspec.service.requirement_lines import read_requirements, variables_in

    own = read_requirements(requirements, variables_in(requirements.decode("utf-8-sig", "replace"))).options
    installed: dict[str, str] = {}
    is_open, number = False, 0
    for number, line in enumerate(content.decode("utf-8", "replace").split("\n"), 1):
        package = _PACKAGE.fullmatch(line)
        if is_open:
            known = re.fullmatch(_HASH, line) is not None
        elif package is not None and "$" not in line:
            # A second line with a name would install what the first one of it in smspec.lock does not say.
            known = package["name"] not in installed
            installed[package["name"]] = package["version"] or packages.get(package["name"], "")
        else:
            is_comment = number == 1 and line.startswith("#") and not re.match(_CODING, line)
            known = not line or is_comment or line in own
        if not known:
            return f"has a line {number} that `smspec lock` does not write"
        is_open = line.endswith("\\") and not line.startswith("#")
    if is_open:  # the file ends where a hash would be
        return f"has a line {number} that `smspec lock` does not write"
    if installed != dict(packages):
        name = next(name for name in sorted({*installed, *packages}) if installed.get(name) != packages.get(name))
        return f"has {quoted(name)} in another version than smspec.lock, or only one of them has it"
    return ""


def direct_packages(content: bytes) -> dict[str, str]:
    """Return the packages of a file of `smspec lock` that come from an address of their own, name → address."""
    lines = map(_PACKAGE.fullmatch, content.decode("utf-8", "replace").split("\n"))
    return {line["name"]: line["url"] for line in lines if line is not None and line["url"]}


def listed_files(content: bytes) -> dict[str, str]:
    """Return what the lines of a file of `smspec lock` say besides versions.

    Of each package, its hashes; of each option about indexes, its values.
    """
    found: dict[str, list[str]] = {}
    name = ""
    for line in content.decode("utf-8", "replace").split("\n"):
        if package := _PACKAGE.fullmatch(line):
            name = package["name"]
        elif line.startswith("-"):
            option, _, value = re.sub(r"[= ]+", " ", line, count=1).partition(" ")
            found.setdefault(option, []).append(value)
        if hashes := re.findall("sha256:[0-9a-f]{64}", line):
            found.setdefault(name, []).extend(hashes)
    return {name: ", ".join(values) for name, values in found.items()}


def _content(path: str, digest: str, boundary: Boundary) -> tuple[bytes | None, str]:
    """Return the content of a file with a digest; or None, and what is wrong with it."""
    if boundary.contains(path) and not os.path.lexists(path):
        return None, "is missing"
    try:
        content = boundary.read_named(path, LARGEST_ENVIRONMENT)
    except FileNotRead as fault:
        return None, fault.reason
    if len(content) > LARGEST_ENVIRONMENT:
        return None, f"is larger than {LARGEST_ENVIRONMENT >> 20} MiB"
    if content_digest(content) != digest:
        return None, "does not match smspec.lock"
    unseen = next(line_faults(content.decode("utf-8", "replace")), None)
    if unseen:
        return None, f"{unseen[1][1]} in line {unseen[0]}"
    return content, ""


def combined_lock(locks: Sequence[tuple[str, Lock]], boundary: Boundary) -> Lock:
    """Return the entries of all lockfiles, the outermost first; names of files start at the directory of the last one.

    The environments are not among them, because each belongs to the directory of its own lockfile. Raise `InvalidInput`
    for entries that differ.
    """
    home = os.path.dirname(locks[-1][0]) or os.curdir
    entries: dict[str, dict[str, str]] = {section: {} for section in _SECTIONS}
    origins: dict[tuple[str, str], tuple[str, str]] = {}
    found: list[tuple[str, str, str, str, str]] = []
    for path, lock in locks:
        for section in _SECTIONS:
            for written, value in getattr(lock, section).items():
                name = written
                if section == "requirements":
                    name = os.path.relpath(os.path.join(os.path.dirname(path), written), home)
                known = entries[section].setdefault(name, value)
                outer, name_there = origins.setdefault((section, name), (path, written))
                if known != value:
                    found.append((section, path, written, outer, name_there))
    if found:
        raise _contradicting(found, boundary)
    last = locks[-1][1]
    return Lock(
        **entries,
        environments={key: value for _, lock in reversed(locks) for key, value in lock.environments.items()},
        smspec=last.smspec,
        api_model=last.api_model,
        image_table=last.image_table,
        locked=max(lock.locked for _, lock in locks),
    )


def _contradicting(found: Sequence[tuple[str, str, str, str, str]], boundary: Boundary) -> InvalidInput:
    diagnostics: list[Diagnostic] = []
    texts: dict[SourceText, None] = {}
    for section, path, written, outer, name_there in found[:MOST]:
        (place, text), (place_there, text_there) = (
            json_place(file, (section, name), boundary) for file, name in ((path, written), (outer, name_there))
        )
        texts.update(dict.fromkeys((text, text_there)))
        diagnostics.append(
            Diagnostic(
                code=CONTRADICTING_LOCK.code,
                severity=CONTRADICTING_LOCK.severity,
                message=f"{quoted(written)} of `{section}` differs from the entry in `{outer}`",
                span=place,
                path=(section, written),
                help=f"remove this file, and run `smspec lock`: `{outer}` locks the jobs of this directory",
                notes=(Note("the outer entry", place_there),),
            )
        )
    return InvalidInput(tuple(diagnostics), tuple(texts))
