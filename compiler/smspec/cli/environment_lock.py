"""Lock the environments of jobs: the part of `smspec lock` about packages."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from smspec.cli.console import CommandRefused, Console, ResourceUnavailable
from smspec.diagnostics import Diagnostic, Finding, InvalidInput, placed
from smspec.diagnostics.quoting import visible
from smspec.organization.lock_file import LARGEST_ENVIRONMENT
from smspec.output.atomic_file import write_whole
from smspec.pipeline.lock_targets import EnvironmentTarget, LockTarget, environment_targets, startup_targets
from smspec.render.representable import package_findings
from smspec.source import SourceText
from smspec.source.real_file import open_below
from smspec.spec.lock import DIRECTORY, Lock, LockedEnvironment, content_digest, environment_file
from smspec.workspace.path_targets import repository_top

if TYPE_CHECKING:
    from smspec.lock.diagnosis import Fault
    from smspec.lock.resolution import Question

_MOST_LINES = 40
"""Of what a resolver prints."""


@dataclass
class Environments:
    """Those of one lock: all that its jobs need by key, and the files of new ones. ``is_complete``: none is unknown."""

    needed: dict[str, LockedEnvironment] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    is_complete: bool = True


@dataclass
class _Rejected:
    diagnostics: dict[Diagnostic, None] = field(default_factory=dict)
    texts: dict[str, SourceText] = field(default_factory=dict)
    sentences: list[str] = field(default_factory=list)

    def add(self, findings: Iterable[Finding], target: EnvironmentTarget) -> None:
        """Add findings about the requirements of an environment."""
        self.diagnostics.update(dict.fromkeys(placed(findings, target.document)))
        self.texts.update((text.name, text) for text in target.document.texts)


def lock_environments(
    locks: Iterable[tuple[LockTarget, Lock]], console: Console, *, update: bool, allow_builds: bool
) -> list[Environments]:
    """Return the environments of each lock. Raise for all jobs together if the packages of any cannot be resolved."""
    rejected = _Rejected()
    found = []
    for target, lock in locks:
        place = os.path.dirname(os.path.abspath(target.path))
        locking = _Locking(
            lock=lock,
            console=console,
            rejected=rejected,
            update=update,
            allow_builds=allow_builds,
            repository=repository_top(place) or place,
        )
        found.append(locking.environments(target))
    if rejected.diagnostics:
        for sentence in rejected.sentences:
            console.say(visible(sentence))
        raise InvalidInput(rejected.diagnostics, rejected.texts.values())
    if rejected.sentences:
        raise CommandRefused("; ".join(rejected.sentences))
    return found


def write_files(lock: str, files: Mapping[str, str]) -> None:
    """Write the files of environments next to a lock."""
    for name, content in files.items():
        path = os.path.join(os.path.dirname(lock), name)
        if os.path.islink(os.path.dirname(path)):
            raise ResourceUnavailable(f"cannot write `{path}`: its directory is a symbolic link")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write_whole(path, content)


def remove_files(lock: str, keys: Iterable[str]) -> None:
    """Remove the files of environments that a lock no longer contains; one that cannot be removed does no harm.

    Nothing is removed through a symbolic link: the files behind it are not those of the lock.
    """
    if os.path.islink(os.path.join(os.path.dirname(lock), DIRECTORY)):
        return
    for key in keys:
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(os.path.dirname(lock), environment_file(key)))


@dataclass(kw_only=True)
class _Locking:
    """The locking of one lock."""

    lock: Lock
    console: Console
    rejected: _Rejected
    update: bool
    allow_builds: bool
    repository: str

    def environments(self, target: LockTarget) -> Environments:
        found = Environments()
        targets = environment_targets(target, self.lock)
        needed = {each.key for each in targets}
        self._add(target, targets, needed, found)
        # What a job installs at startup depends on what its image has then.
        self._add(target, startup_targets(target, self.lock, found.needed), needed, found)
        return found

    def _add(
        self, target: LockTarget, targets: Iterable[EnvironmentTarget], needed: set[str], found: Environments
    ) -> None:
        from smspec.lock.diagnosis import library_hints

        for each in targets:
            if isinstance(each.bare, str) or each.image is None:
                found.lines.append(f"{_packages_of(each)} not locked: {each.bare}")
                found.is_complete = found.is_complete and (bool(each.key) or each.is_at_start)
                continue
            before = self.lock.environments.get(each.key)
            if before is not None and not self.update and _is_written(target.path, each.key, before):
                found.needed[each.key] = before
                found.lines.append(f"{environment_file(each.key)} {_summary(before, each)}")
                found.lines += [f"  {hint}" for hint in library_hints(before.packages, each.image)]
            else:
                self._resolve(each, needed, found)

    def _resolve(self, each: EnvironmentTarget, needed: set[str], found: Environments) -> None:
        # Imported late, like everything that uses the network.
        from smspec.lock.diagnosis import Fault, diagnosed, gpu_hints, library_hints
        from smspec.lock.environment_locking import changes, lock_environment, predecessor
        from smspec.lock.index_settings import index_settings, secret_variables
        from smspec.lock.resolution import Question, UnacceptedFiles, Unresolvable
        from smspec.lock.resolver_process import ResolverFailed
        from smspec.lock.wheel_modules import ModuleCache
        from smspec.service.requirement_lines import read_packages, read_requirements

        assert each.image is not None and not isinstance(each.bare, str)  # the caller has checked them
        variables = [*each.image.build_variables, *(name for name, kind in each.image.secrets.items() if kind == "env")]
        faults = tuple(package_findings(each.image.python_packages))
        if faults:
            self.rejected.add(faults, each)
            return
        packages = read_packages(each.image.python_packages)
        file = read_requirements(each.requirements or b"", variables)
        obstacle = packages.obstacle or file.obstacle
        if obstacle:
            found.lines.append(f"{_packages_of(each)} not locked: {obstacle}")
            return
        names = {one.name for one in (*packages.requirements, *file.requirements)}
        old = self.lock.environments.get(each.key) or predecessor(
            self.lock.environments, each.image, each.bare.minor, names, needed
        )
        question = Question(
            image=each.bare,
            packages=packages,
            file=file,
            content=each.requirements,
            preferred=old.packages if old is not None and not self.update else {},
            allow_builds=self.allow_builds,
            installed=each.installed.packages if each.installed is not None else {},
            is_at_start=each.is_at_start,
        )
        self.console.remark(
            visible(f"resolving the {_packages_of(each)} for Python {each.bare.minor} on {each.image.platform}")
        )
        try:
            lines = (*file.options, *(one.text for one in file.requirements))
            secrets = secret_variables(each.secrets, lines, each.directory)
            settings = index_settings(each.image.build_variables, secrets, lines)
            cache = ModuleCache()
            try:
                new = lock_environment(
                    question,
                    settings,
                    cache,
                    base=each.image.base,
                    platform=each.image.platform,
                    repository=self.repository,
                )
            except Unresolvable as fault:
                self._reject(each, str(fault), diagnosed(question, settings, str(fault)), question, found)
                return
            except UnacceptedFiles as fault:
                self._reject(each, "", [Fault("unaccepted file", line, True) for line in fault.lines], question, found)
                return
        except ResolverFailed as fault:
            where = _line_of_index(str(fault), each)
            raise ResourceUnavailable(f"cannot lock the {_packages_of(each)}: {fault}{where}") from None
        found.needed[each.key] = new.entry
        found.files[environment_file(each.key)] = new.content
        same = self.lock.environments.get(each.key) == new.entry
        found.lines.append(f"{environment_file(each.key)} {_summary(new.entry, each)}{'' if same else ' (new)'}")
        found.lines += [f"  {line}" for line in _replaced(question.installed, new.entry.packages)]
        if old is not None and not same:
            found.lines += [f"  {change}" for change in changes(old.packages, new.entry.packages)]
        found.lines += [f"  {hint}" for hint in library_hints(new.entry.packages, each.image)]
        found.lines += [f"  {hint}" for hint in gpu_hints(new.entry.packages, new.sizes, each.instance_type)]
        for name in new.entry.unlisted:
            why = new.faults.get(name, "it has no wheel, or changes the search path of Python")
            found.lines.append(f"  the modules of {name} are unknown: {why}")

    def _reject(
        self, each: EnvironmentTarget, text: str, faults: list[Fault], question: Question, found: Environments
    ) -> None:
        """Record why nothing fits the requirements: the findings, or what the resolver printed.

        At startup pip builds what has no wheel, so only what no index has is an error.
        """
        from smspec.lock.diagnosis import fault_findings

        if each.is_at_start:
            faults = [
                fault for fault in faults if fault.kind in ("unknown package", "unknown version", "unaccepted file")
            ]
            if not faults:
                found.lines.append(f"{_packages_of(each)} not locked: no set of wheels fits them; try --allow-builds")
                found.is_complete = False
                return
        findings = fault_findings(faults, question, each.requirements_file or "")
        self.rejected.add(findings, each)
        if not findings:
            for line in [line for line in text.splitlines() if line.strip()][-_MOST_LINES:]:
                self.console.say(visible(f"  {line.rstrip()}"))
            self.rejected.sentences.append(f"cannot resolve the packages of {each.spec}")


def _summary(environment: LockedEnvironment, each: EnvironmentTarget) -> str:
    count = len(environment.packages)
    when = ", installed at startup" if each.is_at_start else ""
    return f"{count} package{'' if count == 1 else 's'} for Python {environment.python}{when}"


def _packages_of(each: EnvironmentTarget) -> str:
    """Return what an environment is in a message."""
    return f"packages that {each.spec} installs at startup" if each.is_at_start else f"packages of {each.spec}"


def _line_of_index(reason: str, each: EnvironmentTarget) -> str:
    """Return which line of the requirements adds the index of a reason; empty if none does."""
    from smspec.service.requirement_lines import joined_lines  # imported late, as above

    for number, _, line in joined_lines((each.requirements or b"").decode("utf-8-sig", "replace")):
        hosts = re.findall(r"https?://(?:[^\s/]*@)?([^\s/]+)", line) if line.lstrip().startswith("-") else ()
        if any(re.search(rf"//(?:[^\s/]*@)?{re.escape(host)}/", reason) for host in hosts):
            return f" ({each.requirements_file} line {number} adds this index)"
    return ""


def _replaced(installed: Mapping[str, str], added: Mapping[str, str]) -> list[str]:
    """Return the packages of an image that its job replaces at startup."""
    return [
        f"{name} {installed[name]} of the image is replaced by {added[name]}"
        for name in sorted(added)
        if name in installed
    ]


def _is_written(lock: str, key: str, entry: LockedEnvironment) -> bool:
    """Return whether the file of an environment exists as it was written."""
    try:
        descriptor = open_below(os.path.dirname(lock) or os.curdir, environment_file(key).split("/"))
        with open(descriptor, "rb") as file:
            return content_digest(file.read(LARGEST_ENVIRONMENT + 1)) == entry.digest
    except (OSError, ValueError):
        return False
