"""``smspec lock``: pin what the images of a job are built from."""

from __future__ import annotations

import argparse
import os
import re

from smspec import __version__
from smspec.cli.console import Console
from smspec.cli.faults import Unavailable, Usage
from smspec.cli.spec_arguments import settings
from smspec.diagnostics import Rejected
from smspec.diagnostics.visible import visible
from smspec.output.failures import OutputFailed
from smspec.output.whole_file import write_whole
from smspec.pipeline.inputs import Inputs, gather_all
from smspec.pipeline.lock_file import lock_path, read_lock
from smspec.service.image_reference import is_image_reference, parsed_reference
from smspec.service.shapes import pinned_model
from smspec.source import Scalar
from smspec.source.frozen import replace
from smspec.spec.layers.misuse import Misuse
from smspec.spec.lock import NAME, Lock, content_digest

HELP = """\
Pin what the images of a job are built from: its base, as it is and under each overlay, to a digest, and its
requirements file to its hash. They are kept in smspec.lock, one file for a repository, the nearest upwards.

What is pinned stays as it is, unless --update asks its registry again. The digest of a base that no registry can be
asked for is given with --digest."""

_DIGEST = r"sha256:[0-9a-f]{64}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", metavar="SPEC", nargs="?", default="job.yaml", help="the job spec (default: job.yaml)")
    parser.add_argument("--update", action="store_true", help="ask the registries again for what is pinned already")
    parser.add_argument(
        "--digest", metavar="IMAGE=DIGEST", action="append", default=[], help="pin an image without asking anybody"
    )
    parser.add_argument(
        "--set", metavar="vars.NAME=VALUE", action="append", default=[], help="give a declared variable a value"
    )


def run(args: argparse.Namespace, console: Console) -> int:
    digests = _digests(args.digest)
    try:
        outcomes = dict(gather_all(args.spec, settings(args)))
    except Misuse as misuse:
        raise Usage(str(misuse)) from misuse
    for outcome in outcomes.values():
        if isinstance(outcome, Rejected):
            raise outcome
    jobs = [outcome for outcome in outcomes.values() if isinstance(outcome, Inputs)]

    directory = os.path.dirname(args.spec) or os.curdir
    found = lock_path(directory)
    path = found or os.path.join(_top(directory), NAME)
    before = read_lock(found) if found else Lock()
    images = [base for job in jobs if (base := _base(job)) is not None and "@" not in base]
    unknown = sorted(set(digests) - set(images))
    if unknown:
        raise Usage(f"--digest: no image of this job is built from `{unknown[0]}`")

    from smspec.lock.locking import lock_text, locked  # late, as all that can ask a registry

    after = locked(before, images, digests, _resolve, update=args.update)
    requirements = dict(entry for job in jobs for entry in _requirements(job, os.path.dirname(path)))
    after = replace(after, requirements=before.requirements | requirements)
    if after != before or not found:
        after = replace(after, smspec=__version__, api_model=pinned_model().date)
        try:
            write_whole(path, lock_text(after))
        except OutputFailed as failure:
            raise Unavailable(str(failure)) from failure
    for name in dict.fromkeys([*images, *requirements]):
        pins = after.images | after.requirements
        console.say(visible(f"{name} {pins[name]}{'' if _known(before, name) == pins[name] else ' (new)'}"))
    console.say(visible(f"{path}: {'written' if after != before or not found else 'nothing new'}"))
    return 0


def _digests(words: list[str]) -> dict[str, str]:
    digests = {}
    for word in words:
        image, _, digest = word.partition("=")
        if not is_image_reference(image) or not re.fullmatch(_DIGEST, digest):
            raise Usage(
                f"--digest {visible(word)}: write `--digest python:3.12-slim=sha256:<64 digits of 0-9 and a-f>`"
            )
        digests[image] = digest
    return digests


def _base(job: Inputs) -> str | None:
    """Return the base of a job that is built; what is wrong with the rest of the spec is no matter here."""
    node = job.document.node(("image", "base"))
    return node.text if isinstance(node, Scalar) and is_image_reference(node.text) else None


def _requirements(job: Inputs, directory: str) -> list[tuple[str, str]]:
    node = job.document.node(("image", "python_requirements"))
    content = job.ingredients.requirements
    if content is None or not isinstance(node, Scalar):
        return []
    name = os.path.relpath(os.path.join(job.directory, node.text), directory or os.curdir)
    return [(name, content_digest(content))]


def _known(lock: Lock, name: str) -> str | None:
    return lock.images.get(name) or lock.requirements.get(name)


def _resolve(image: str) -> str:
    from smspec.lock.registry import NoAnswer, resolved

    reference = parsed_reference(image)
    assert reference is not None  # only references come here
    try:
        authorization = None
        if reference.account is not None and reference.region is not None:
            from smspec.lock.ecr import authorization as of_ecr

            authorization = of_ecr(reference.region)
        return resolved(reference, authorization)
    except NoAnswer as silence:
        way_out = f"give it yourself: `--digest {image}=sha256:…`"
        raise Unavailable(f"the digest of `{image}` could not be asked for: {silence}; {way_out}") from None


def _top(directory: str) -> str:
    """Return the top of the repository, where a first lock belongs; the directory itself outside of one."""
    here = os.path.abspath(directory)
    while not os.path.exists(os.path.join(here, ".git")):
        parent = os.path.dirname(here)
        if parent == here:
            return directory
        here = parent
    return os.path.relpath(here)
