"""``smspec lock``: pin what the images of a job are built from."""

from __future__ import annotations

import argparse
import re

from smspec import __version__
from smspec.cli.command_errors import ResourceUnavailable, UsageError
from smspec.cli.console import Console
from smspec.cli.spec_arguments import add_root_argument, root, settings
from smspec.diagnostics.visible import visible
from smspec.output.atomic_file import write_whole
from smspec.output.failures import OutputFailed
from smspec.pipeline.lock_targets import LockTarget, find_lock_targets, platforms_of
from smspec.service.image_reference import SHA256, is_image_reference, parsed_reference
from smspec.service.shapes import pinned_model
from smspec.source.frozen import replace
from smspec.spec.layers.misuse import Misuse
from smspec.spec.lock import Lock
from smspec.workspace.command_line_file import USUAL_SPEC

HELP = """\
Pin what the images of jobs are built from: their bases, as they are and under each overlay, to digests, and their
requirements files to hashes. They are kept in smspec.lock, one file for a repository, the nearest upwards. A directory
means the job specs below it.

What is pinned stays as it is, unless --update asks its registry again. The digest of a base that no registry can be
asked for is given with --digest."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths", metavar="PATH", nargs="*", help="job specs, or directories to search (default: job.yaml)"
    )
    parser.add_argument("--update", action="store_true", help="ask the registries again for what is pinned already")
    parser.add_argument(
        "--digest", metavar="IMAGE=DIGEST", action="append", default=[], help="pin an image without asking anybody"
    )
    parser.add_argument(
        "--set", metavar="vars.NAME=VALUE", action="append", default=[], help="give a declared variable a value"
    )
    add_root_argument(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    digests = _digests(args.digest)
    try:
        found = find_lock_targets(args.paths or [USUAL_SPEC], settings(args), root(args))
    except Misuse as misuse:
        raise UsageError(str(misuse)) from misuse
    unknown = sorted(set(digests) - {image for each in found for image in each.images})
    if unknown:
        raise UsageError(f"--digest: no image of these jobs is built from `{unknown[0]}`")

    from smspec.lock.locking import to_ask  # late, as all that can ask a registry

    locks = [(each, each.before) for each in found]
    asked = [to_ask(lock, each.images, digests, update=args.update) for each, lock in locks]
    answers = _resolved([image for images in asked for image in images], platforms_of(found), console)
    for (each, lock), images in zip(locks, asked, strict=True):
        given = {image: digest for image, digest in digests.items() if image in each.images}
        _lock(each, lock, given | {image: answers[image] for image in images}, console)
    return 0


def _lock(found: LockTarget, before: Lock, images: dict[str, str], console: Console) -> None:
    """Write one lock, if there is something new for it, and say what is in it of these jobs."""
    from smspec.lock.locking import lock_text, locked

    after = locked(before, images, found.requirements)
    is_new = after != before or not found.is_there
    if is_new:
        after = replace(after, smspec=__version__, api_model=pinned_model().date)
        try:
            write_whole(found.path, lock_text(after))
        except OutputFailed as failure:
            raise ResourceUnavailable(str(failure)) from failure
    old, pins = before.images | before.requirements, after.images | after.requirements
    for name in (*found.images, *found.requirements):
        console.say(visible(f"{name} {pins[name]}{'' if old.get(name) == pins[name] else ' (new)'}"))
    console.say(visible(f"{found.path}: {'written' if is_new else 'nothing new'}"))


def _digests(words: list[str]) -> dict[str, str]:
    digests = {}
    for word in words:
        image, _, digest = word.partition("=")
        if not is_image_reference(image) or not re.fullmatch(SHA256, digest):
            raise UsageError(
                f"--digest {visible(word)}: write `--digest python:3.12-slim=sha256:<64 digits of 0-9 and a-f>`"
            )
        digests[image] = digest
    return digests


def _resolved(images: list[str], platforms: dict[str, tuple[str, ...]], console: Console) -> dict[str, str]:
    """Return the digests from the registries. Raises `ResourceUnavailable` after all were asked if one has none."""
    from smspec.lock.registry import NoDigest

    digests: dict[str, str] = {}
    silent: list[str] = []
    for image in dict.fromkeys(images):
        try:
            digests[image] = _resolve(image, platforms[image])
        except NoDigest as silence:
            console.say(visible(f"cannot get the digest of `{image}`: {silence}"))
            silent.append(image)
    if silent:
        ways_out = " ".join(f"--digest {image}=sha256:…" for image in silent)
        raise ResourceUnavailable(f"smspec.lock not written; pass the missing digests: `{ways_out}`")
    return digests


def _resolve(image: str, platforms: tuple[str, ...]) -> str:
    """Return the digest that the registry of an image has for it now. Raises `NoDigest`."""
    from smspec.lock.registry import resolved

    reference = parsed_reference(image)
    assert reference is not None  # only references come here
    if reference.account is None or reference.region is None:
        return resolved(reference, platforms)
    from smspec.lock.ecr import authorization  # late: few bases lie in ECR, and boto3 takes half a second

    return resolved(reference, platforms, authorization(reference.region, reference.registry or ""))
