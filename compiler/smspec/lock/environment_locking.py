"""Lock one environment: resolve its packages, list their modules, and write both as an entry of a lock.

It continues a predecessor, whose versions are kept where they still fit. Its requirements file has versions with the
SHA-256 of their files, for uv and any pip since 20.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

from smspec.lock.index_settings import IndexSettings, index_settings
from smspec.lock.resolution import Question, ResolvedFile, Unresolvable, Uv, installed_uv, require_accepted
from smspec.lock.resolver_process import ResolverFailed
from smspec.lock.wheel_modules import ModuleCache, list_modules
from smspec.plan import ImagePlan
from smspec.spec.lock import LockedEnvironment
from smspec.workspace.own_directories import temporary_directory

_INDEX_OPTION = re.compile(
    r"(?:-i|--index-url|--extra-index-url|--no-index|-f|--find-links|--trusted-host)(?:[=\s].*)?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEnvironment:
    """``content``: of the requirements file with hashes. ``faults``: package → why its modules could not be listed.

    ``sizes``: package → bytes, as far as the index has them.
    """

    entry: LockedEnvironment
    content: str
    faults: Mapping[str, str]
    sizes: Mapping[str, int]


def lock_environment(
    question: Question, settings: IndexSettings, cache: ModuleCache, *, base: str, platform: str, repository: str
) -> NewEnvironment:
    """Return the entry of an environment and its file. Raise `Unresolvable`, `UnacceptedFiles`, or `ResolverFailed`.

    ``repository``: the directory whose content others may have written.
    """
    if question.option_to_build and not question.allow_builds:
        raise Unresolvable(f"Building source distributions for `{question.option_to_build}` is disabled")
    with temporary_directory() as directory:
        uv = Uv(installed_uv(repository), settings)
        version = uv.version(directory)
        files = () if question.is_empty else uv.resolve(question, directory)
    source = None if question.allow_builds else next((file for file in files if not file.is_wheel), None)
    if source is not None:  # uv resolves those whose metadata does not depend on a build; who installs them builds them
        raise Unresolvable(f"Building source distributions for `{source.name}` is disabled ({source.url})")
    local = next((file for file in files if file.is_local), None)
    if local is not None:
        raise ResolverFailed(
            f"`{local.name}` {local.version} is a file of this machine, which a build of the image does not have;"
            " check the settings of pip and uv"
        )
    require_accepted(question, files)
    # pip leaves what is installed already.
    files = tuple(file for file in files if file.is_direct or question.installed.get(file.name) != file.version)
    modules = list_modules(files, settings, cache)
    content = hashed_requirements(files, question.file.options, base=base, python=question.image.minor)
    entry = LockedEnvironment(
        base=base,
        platform=platform,
        python=question.image.minor,
        packages={file.name: file.version for file in sorted(files, key=lambda file: file.name)},
        modules=tuple(sorted({module for names in modules.known.values() for module in names})),
        unlisted=tuple(sorted(file.name for file in files if file.name not in modules.known)),
        digest=f"sha256:{hashlib.sha256(content.encode()).hexdigest()}",
        resolver=version,
    )
    return NewEnvironment(
        entry=entry,
        content=content,
        faults=modules.faults,
        sizes={file.name: file.size for file in files if file.size},
    )


def newest_versions(names: Sequence[str], python: str, path: str) -> dict[str, str]:
    """Return name → newest version for a Python, such as ``3.12``, of the packages that the index of this machine has.

    ``path``: that of uv. Raise `ResolverFailed` if it, or no index, answers.
    """
    with temporary_directory() as directory:
        uv = Uv(path, index_settings({}, {}, ()))
        uv.version(directory)
        return uv.newest(names, python, directory)


def hashed_requirements(files: Sequence[ResolvedFile], options: Sequence[str], *, base: str, python: str) -> str:
    """Return the content of the file. ``options``: of the author's file, of which those about indexes count."""
    lines = [f"# The packages of {base} with Python {python}, written by `smspec lock`. Do not edit."]
    lines += [option for option in options if _INDEX_OPTION.fullmatch(option)]
    for file in sorted(files, key=lambda file: file.name):
        # An installer replaces `${NAME}`, in URLs of strangers too.
        url = file.url.partition("#")[0].replace("$", "%24")
        version = f"{file.name} @ {url}" if file.is_direct else f"{file.name}=={file.version}"
        lines += [f"{version} \\", f"    --hash=sha256:{file.sha256}"]
    return "\n".join(lines) + "\n"


def predecessor(
    known: Mapping[str, LockedEnvironment], image: ImagePlan, python: str, names: set[str], needed: Container[str]
) -> LockedEnvironment | None:
    """Return the locked environment that is most like the one to resolve; None if no other has one of its packages.

    ``names``: the packages that it requires. An environment that no job needs any more, outside of ``needed``, was
    probably its own before the change.
    """
    base = image.base.partition("@")[0]
    candidates = []
    for key in known:
        one = known[key]
        shared = len(names & set(one.packages))
        if shared and (one.platform, one.python) == (image.platform, python):
            is_same_base = one.base.partition("@")[0] == base
            candidates.append((key in needed, -shared, not is_same_base, len(one.packages), key))
    return known[min(candidates)[-1]] if candidates else None


def changes(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    """Yield the packages whose versions differ."""
    for name in sorted({*old, *new}):
        if old.get(name) != new.get(name):
            yield f"{name} {old.get(name, '(none)')} → {new.get(name, '(none)')}"
