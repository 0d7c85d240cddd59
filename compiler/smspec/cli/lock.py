"""``smspec lock``: pin base images and requirements in smspec.lock."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from smspec import __version__
from smspec.cli.console import CommandRefused, Console, ResourceUnavailable, UsageError
from smspec.cli.environment_lock import lock_environments, remove_files, write_files
from smspec.cli.parser import add_quiet_argument
from smspec.cli.spec_arguments import add_changed_argument, add_root_argument, affected, root, searched_paths, settings
from smspec.cli.waiting import Waiting
from smspec.diagnostics import InvalidInput
from smspec.diagnostics.quoting import visible
from smspec.output.atomic_file import write_whole
from smspec.pipeline.lock_targets import LockTarget, find_lock_targets, platforms_of
from smspec.service.facts.images import date as image_table_date
from smspec.service.image_python import python_of_image, without_python
from smspec.service.image_reference import SHA256, is_image_reference, parsed_reference
from smspec.service.shapes import pinned_model
from smspec.source.frozen import replace
from smspec.spec.lock import Lock
from smspec.workspace.deferred_signals import signals_interrupt
from smspec.workspace.path_targets import is_directory

if TYPE_CHECKING:
    from smspec.lock.image_locking import Resolved

HELP = """\
Pin base images to digests, short names of AWS images to URIs, and requirements files to hashes in the nearest
smspec.lock, from the directory of the spec upwards. Includes the images of each overlay. A directory means all job
specs below it.

Resolve the Python packages of each image for its Python and platform, with uv. Versions with hashes go to
smspec.lock.d. Bases that contain other packages are not resolved.

Existing pins do not change without --update. Use --digest for an image whose registry smspec cannot reach."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_quiet_argument(parser)
    parser.add_argument(
        "paths", metavar="PATH", nargs="*", help="job specs, or directories to search (default: job.yaml)"
    )
    add_changed_argument(parser)
    parser.add_argument(
        "--update",
        action="store_true",
        help="get the current URIs and digests of images, and versions of packages, that are already pinned",
    )
    parser.add_argument(
        "--allow-builds",
        action="store_true",
        help="also lock packages without a wheel; reading their dependencies runs their code on this machine",
    )
    parser.add_argument(
        "--digest",
        metavar="IMAGE=DIGEST",
        action="append",
        default=[],
        help="pin an image without contacting its registry",
    )
    parser.add_argument(
        "--set", metavar="vars.NAME=VALUE", action="append", default=[], help="set a variable declared in `vars`"
    )
    add_root_argument(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    try:
        return _lock(args, console)
    except InvalidInput as rejected:
        if len(args.paths) == 1 and not is_directory(args.paths[0]):
            raise
        console.warned(rejected.diagnostics, rejected.texts)
        raise CommandRefused("nothing was locked; correct these errors, or pass only the specs to lock") from rejected


def _lock(args: argparse.Namespace, console: Console) -> int:
    digests = _digests(args.digest)
    found = find_lock_targets(
        searched_paths(args),
        settings(args),
        root(args),
        update=args.update,
        wanted=None
        if args.changed is None
        else lambda specs, cache: affected(specs, args, settings(args), cache, console).specs,
    )
    digests = _by_uri(digests, found)
    unknown = sorted(set(digests) - {image for each in found for image in (*each.images, *each.existing)})
    if unknown:
        raise UsageError(f"--digest: no job uses the base image `{unknown[0]}`")

    from smspec.lock.image_locking import locked, to_ask  # imported late, like everything that contacts a registry

    asked = [to_ask(each.before, (*each.images, *each.existing), digests, update=args.update) for each in found]
    answers = _resolved([image for images in asked for image in images], platforms_of(found), console)
    locks = []
    for each, images in zip(found, asked, strict=True):
        given = {image: digest for image, digest in digests.items() if image in (*each.images, *each.existing)}
        found_here = {image: answers[image] for image in images if image in answers}
        pinned = given | {image: answer.digest for image, answer in found_here.items()}
        pythons = {image: answer.python for image, answer in found_here.items() if answer.python}
        locks.append((each, locked(each.before, pinned, each.requirements, each.names, pythons)))
    with signals_interrupt():
        environments = lock_environments(locks, console, update=args.update, allow_builds=args.allow_builds)
        for (each, after), needed in zip(locks, environments, strict=True):
            covers_all = (
                needed.is_complete
                and not args.set
                and args.changed is None
                and _covers(args.paths, each.path)
                and not _varies(each)
            )
            kept = {} if covers_all else dict(each.before.environments)
            after = replace(after, environments={**kept, **needed.needed})
            write_files(each.path, needed.files)
            _write(each, after, needed.lines, console)
            remove_files(each.path, set(each.before.environments) - set(after.environments))
    return 0


def _varies(found: LockTarget) -> bool:
    """Return whether an image refers to a variable: `--set` may have locked environments of other values."""
    for text in {text.text for job in found.jobs for text in job.document.texts}:
        indent = None
        for line in text.splitlines():
            depth = len(line) - len(line.lstrip())
            if line.lstrip().startswith("image:"):
                indent = depth
            elif indent is not None and line.strip() and depth <= indent:
                indent = None
            if indent is not None and "${{" in line:
                return True
    return False


def _covers(paths: list[str], lock: str) -> bool:
    """Return whether all jobs of a lock are below the paths of the command line."""
    directory = os.path.realpath(os.path.dirname(lock) or os.curdir)
    above = [os.path.realpath(path) for path in paths if is_directory(path)]
    return any(os.path.commonpath((path, directory)) == path for path in above)


def _write(found: LockTarget, after: Lock, lines: list[str], console: Console) -> None:
    """Write one lock, if there is anything new in it, and report its entries for these jobs."""
    from smspec.lock.image_locking import lock_text

    before = found.before
    is_new = after != before or not found.is_there
    if is_new:
        after = replace(after, smspec=__version__, api_model=pinned_model().date, locked=_today())
        if after.names:
            after = replace(after, image_table=image_table_date())
        write_whole(found.path, lock_text(after))
    old = before.names | before.images | before.requirements
    pins = after.names | after.images | after.requirements
    for name in (*found.names, *found.images, *(uri for uri in found.existing if uri in pins), *found.requirements):
        console.remark(visible(f"{name} {pins[name]}{'' if old.get(name) == pins[name] else ' (new)'}"))
        if name in after.pythons:
            console.remark(visible(f"  Python {after.pythons[name]}"))
    for line in lines:
        console.say(visible(line))
    console.remark(visible(f"wrote {found.path}" if is_new else f"{found.path} is up to date"))


def _today() -> str:
    """Return the date, in UTC; no other line of a lock depends on a clock."""
    from datetime import datetime, timezone

    return datetime.now(timezone.utc).date().isoformat()


def _digests(words: list[str]) -> dict[str, str]:
    digests = {}
    for word in words:
        image, _, digest = word.partition("=")
        if not is_image_reference(image) or not re.fullmatch(SHA256, digest):
            raise UsageError(
                f"--digest: expected `IMAGE=sha256:` and 64 lowercase hexadecimal digits, got `{visible(word)}`"
            )
        digests[image] = digest
    return digests


def _by_uri(digests: dict[str, str], found: Iterable[LockTarget]) -> dict[str, str]:
    """Return digests with the URI in each region instead of a short name. A name of different images has no digest."""
    uris: dict[str, list[str]] = {}
    for key, uri in (entry for each in found for entry in each.names.items()):
        uris.setdefault(key.partition(" ")[0], []).append(uri)
    replaced: dict[str, str] = {}
    for image, digest in digests.items():
        meant = uris.get(image, [image])
        if len({uri.partition("/")[2] for uri in meant}) > 1:
            listed = " and ".join(f"`{uri}`" for uri in sorted(set(meant))[:2])
            raise UsageError(f"--digest: `{image}` stands for {listed}; use the URI")
        replaced.update(dict.fromkeys(meant, digest))
    return replaced


def _resolved(images: list[str], platforms: dict[str, tuple[str, ...]], console: Console) -> dict[str, Resolved]:
    """Return the digests, and versions of Python, from the registries.

    Raise `ResourceUnavailable` after all requests if a base image has no digest.

    ``platforms``: of base images. Any other image is one that a job runs as it is, and may remain without a digest.
    """
    from smspec.lock.image_locking import NoDigest

    digests: dict[str, Resolved] = {}
    silent: list[str] = []
    waiting = Waiting(console)
    for image in dict.fromkeys(images):
        try:
            with waiting.of(f"the registry of `{image}`"):
                digests[image] = answer = _resolve(image, platforms.get(image, ()))
            if answer.fault:
                console.say(visible(f"cannot read the Python version of `{image}`: {answer.fault}"))
        except NoDigest as silence:
            console.say(visible(f"cannot get the digest of `{image}`: {silence}"))
            if image in platforms:
                silent.append(image)
    if silent:
        ways_out = " ".join(f"--digest {image}=sha256:…" for image in silent)
        raise ResourceUnavailable(f"smspec.lock not written; pass the missing digests: `{ways_out}`")
    return digests


def _resolve(image: str, platforms: tuple[str, ...]) -> Resolved:
    """Return the current digest of an image in its registry. Raise `NoDigest`."""
    from smspec.lock.image_locking import ecr_authorization, resolved

    reference = parsed_reference(image)
    assert reference is not None  # only valid references reach this
    reads_python = python_of_image(image) is None and not without_python(image)
    if reference.account is None or reference.region is None:
        return resolved(reference, platforms, reads_python=reads_python)
    header = ecr_authorization(reference.region)
    return resolved(reference, platforms, header, reads_python=reads_python)
