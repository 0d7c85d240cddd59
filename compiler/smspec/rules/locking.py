"""Rules about what a job does not pin although its repository has a lockfile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

from smspec.diagnostics import Finding, Rule
from smspec.source import Path, dotted
from smspec.source.frozen import dataclass
from smspec.spec.lock import Lock, content_digest
from smspec.spec.model import BuiltImage
from smspec.spec.packages import is_exact, loose_lines

LockedPackages: TypeAlias = Literal["locked", "missing", "not locked", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinning:
    """The image of a job and the lock of its repository.

    ``requirements_name``: the file's path, relative to the lockfile. ``packages``: whether the lock has all packages of
    the image; ``missing`` if it does not, although `smspec lock` would add them. ``locked_file``: the path of their
    requirements file, from the lockfile; ``fault``: why it cannot be used, as the end of a sentence.
    """

    image: BuiltImage
    lock: Lock
    requirements: bytes | None = None
    requirements_name: str = ""
    packages: LockedPackages = "not locked"
    locked_file: str = ""
    fault: str = ""

    @property
    def packages_path(self) -> Path:
        """Where the spec lists the packages."""
        return ("image", "python_packages" if self.image.python_requirements is None else "python_requirements")


Check: TypeAlias = Callable[[Pinning], Iterator[Finding]]


UNPINNED_BASE_IMAGE = Rule("SM720", "unpinned base image", "warning")


def unpinned_base_image(pinning: Pinning) -> Iterator[Finding]:
    """Warn about a base image that neither the spec nor the lock pins.

    A tag can point to a different image tomorrow; a digest cannot.
    """
    base = pinning.image.base
    if "@" not in base and base not in pinning.lock.images:
        yield UNPINNED_BASE_IMAGE.at(
            ("image", "base"),
            f"`image.base` is not pinned: `{base}` is not in smspec.lock",
            help="run `smspec lock`, and commit smspec.lock",
        )


UNPINNED_PACKAGE = Rule("SM721", "unpinned package", "warning")

_MOST_NAMED = 3


def unpinned_package(pinning: Pinning) -> Iterator[Finding]:
    """Warn about Python packages, in the spec and in its requirements file, that have no exact version.

    Without an exact version, the installed version depends on the day of the build.
    """
    if pinning.packages != "not locked":
        return  # the lock has a version of each, or `smspec lock` adds it
    packages = pinning.image.python_packages
    open_ones = [index for index, package in enumerate(packages) if not is_exact(package)]
    if open_ones:
        first, *others = open_ones
        also = f" and {len(others)} more are" if others else " is"
        yield UNPINNED_PACKAGE.at(
            # At the list, if there are several: to ignore one of them must not hide the others.
            ("image", "python_packages") if others else ("image", "python_packages", first),
            f"`image.python_packages`: `{packages[first]}`{also} not pinned",
            help="run `smspec lock`, or use exact versions, such as `name==1.2.3`",
        )
    loose = [str(number) for number, _ in loose_lines(pinning.requirements)]
    if loose:
        more = f" and {len(loose) - _MOST_NAMED} more" if len(loose) > _MOST_NAMED else ""
        # Do not show the lines themselves: a spec can name any file of its repository, and messages show only lines of
        # specs.
        named = f"{'line' if len(loose) == 1 else 'lines'} {', '.join(loose[:_MOST_NAMED])}{more}"
        yield UNPINNED_PACKAGE.at(
            ("image", "python_requirements"),
            f"`{pinning.requirements_name}` does not pin a version in {named}",
            help="use exact versions, such as those of `pip-compile --generate-hashes`",
        )


CHANGED_REQUIREMENTS = Rule("SM722", "requirements that changed after locking", "warning")


def changed_requirements(pinning: Pinning) -> Iterator[Finding]:
    """Warn about a requirements file that has changed since the lock, or is not in it.

    A lockfile is valid only for the requirements files it was made from.
    """
    if pinning.requirements is None or pinning.packages != "not locked":
        return  # the locked packages are checked instead
    locked = pinning.lock.requirements.get(pinning.requirements_name)
    if locked != content_digest(pinning.requirements):
        yield CHANGED_REQUIREMENTS.at(
            ("image", "python_requirements"),
            f"`{pinning.requirements_name}` "
            + ("is not in smspec.lock" if locked is None else "does not match smspec.lock"),
            help="run `smspec lock`, and commit smspec.lock",
        )


PACKAGES_MISSING_FROM_THE_LOCK = Rule("SM730", "packages missing from the lock", "warning")


def packages_missing_from_the_lock(pinning: Pinning) -> Iterator[Finding]:
    """Warn about packages that are not locked in a repository where those of other images are.

    A lock of packages is valid only for the base image and the requirements that it was made for.
    """
    if pinning.packages == "missing":
        path = pinning.packages_path
        yield PACKAGES_MISSING_FROM_THE_LOCK.at(
            path,
            f"smspec.lock does not have the packages of `{dotted(path)}`",
            help="run `smspec lock`, and commit smspec.lock and smspec.lock.d",
        )


CHANGED_LOCKED_PACKAGES = Rule("SM731", "missing or changed file of locked packages")


def changed_locked_packages(pinning: Pinning) -> Iterator[Finding]:
    """Reject a requirements file next to the lock that is missing, or has other content than was locked.

    The image installs the locked requirements file, so its content must be the one that was locked.
    """
    if pinning.fault:
        yield CHANGED_LOCKED_PACKAGES.at(
            pinning.packages_path,
            f"`{pinning.locked_file}` {pinning.fault}",
            help="restore the committed file, or run `smspec lock`",
        )


RULES: tuple[Check, ...] = (
    unpinned_base_image,
    unpinned_package,
    changed_requirements,
    packages_missing_from_the_lock,
    changed_locked_packages,
)


def unpinned(pinning: Pinning) -> list[Finding]:
    """Return a finding for everything that a job does not pin."""
    return [finding for rule in RULES for finding in rule(pinning)]
