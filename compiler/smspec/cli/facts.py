"""``smspec facts``: what smspec knows of AWS and how old it is, and its update from installed packages."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from smspec.cli.console import Console, ResourceUnavailable, table
from smspec.cli.parser import add_quiet_argument
from smspec.cli.prices import place_in_repository, today, write_dated
from smspec.diagnostics import count
from smspec.diagnostics.quoting import visible
from smspec.organization.dated_file import FACTS
from smspec.organization.newer_facts import FactsOrigin, NewerFacts, facts_text, newer_facts, newer_shapes, together
from smspec.service.facts import table as facts_table
from smspec.service.instance_types import UPDATE
from smspec.service.shapes import decode_model, pinned_model
from smspec.source.frozen import replace

HELP = """\
Print what this smspec knows of AWS, with its date: the API model, tables, and what smspec.facts.json adds to them.

With --update, read the request model of the installed botocore, and the tags of images in an installed sagemaker-core
or sagemaker, and write what is newer to smspec.facts.json next to smspec.toml, or else at the top of the repository.
Opens no connection. Commit the file: all specs below it may then use the members, values, instance types, and tags.

Exit status: 0 done; 3 no botocore, or the file cannot be written."""


_TABLES = {
    "images": "tags of images",
    "image_packages": "packages in images",
    "accounts": "accounts of images",
    "instances": "instance types",
    "instance_bandwidth": "bandwidth of instances",
    "ec2_not_offered": "instance types by region",
    "partitions": "regions",
    "launchers": "instance types for smdataparallel",
    "algorithms": "built-in algorithms",
    "aws_calls": "actions for IAM",
}
"""What a table is about, for people."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_quiet_argument(parser)
    parser.add_argument("--update", action="store_true", help="read installed packages, and write the file")


def run(args: argparse.Namespace, console: Console) -> int:
    place = place_in_repository(FACTS)
    before = newer_facts(place.directory, place.boundary)
    if args.update:
        after = _updated(before, console)
        if before.entries() or after.entries():
            write_dated(place, facts_text(after), facts_text(before), console)
        else:
            console.remark("nothing is newer, so there is no file to write")
        return 0
    console.result(table([("FACTS", "AS OF"), *_known()]))
    for name, origin in before.origins.items():
        lines = (f"  {each}\n" for each in _additions(before, name))
        console.result(f"\n{visible(place.path)} adds, as of {origin.as_of} ({origin.source}):\n{''.join(lines)}")
    if not before.origins:
        console.say(f"`{UPDATE}` adds what is newer in installed packages")
    return 0


def _known() -> Iterator[tuple[str, str]]:
    model = pinned_model()
    yield f"API model (botocore {model.botocore})", model.date
    yield from ((title, facts_table(name).date) for name, title in _TABLES.items())


def _additions(facts: NewerFacts, name: str) -> Iterator[str]:
    """Yield what a part of the file adds to what smspec has; in new members all is new, so they are named only."""
    if name == "images":
        yield from (f"{repository}:{tag}" for repository, tags in facts.tags.items() for tag in tags)
        return
    pinned = pinned_model()
    for shape, entry in facts.shapes.items():
        if shape in pinned.shapes:
            holder = "" if shape == pinned.root.name else f"{shape}."
            yield from (f"{holder}{member}" for member in entry.get("members", ()))
            yield from (f"{shape}: {word}" for word in entry.get("enum", ()))
            yield from (f"{shape}: {key} {entry[key]:,}" for key in ("min", "max") if key in entry)


def _updated(before: NewerFacts, console: Console) -> NewerFacts:
    # Imported late: it reads a model of 3 MB.
    from smspec.service.facts import installed_packages as installed

    model = installed.service_model()
    if model is None:
        raise ResourceUnavailable("botocore is not installed: `pip install boto3` brings the request model")
    version = installed.botocore_version()
    text = installed.pinned_text(model, version=version, date=today())
    sdk = installed.installed_sdk()
    found = NewerFacts(
        shapes=newer_shapes(decode_model(text)), tags=installed.newer_tags(sdk.directory) if sdk is not None else {}
    )
    sources = {"api": f"botocore {version}", **({"images": sdk.name} if sdk is not None else {})}
    for name, source in sources.items():
        pinned = f"the API model of {pinned_model().date}" if name == "api" else "the table of images"
        console.remark(f"{source}: {count(len([*_additions(found, name)]), 'addition')} to {pinned}")
    if sdk is None:
        console.remark("sagemaker-core is not installed next to smspec, so no tags of images were read")
    after = together(before, found, installed.known_tags())
    origins = {
        name: before.origins[name]
        if name in before.origins and {*_additions(after, name)} <= {*_additions(before, name)}
        else FactsOrigin(as_of=today(), source=sources.get(name, ""))
        for name in ("api", "images")
    }
    return replace(after, origins=origins)
