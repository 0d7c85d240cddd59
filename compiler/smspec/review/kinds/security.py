"""The role of the job, its network access, its encryption, and the registry of its image."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from smspec.review.change import Change, holds_secret, quoted
from smspec.review.kinds.kind import Kind, by_member, listing
from smspec.review.layers import BASE, ENV, LABELS, LayerItem
from smspec.review.version import JobVersion, Pair
from smspec.service.image_reference import parsed_reference
from smspec.service.shapes import member
from smspec.source import Path
from smspec.source.frozen import replace

DOCKER_HUB = "docker.io"


def _security_changes(pair: Pair, _earlier: Sequence[Change]) -> Iterator[Change]:
    """Yield changes of access, and of secrets in the job; their values are never shown."""
    yield from by_member(pair, SECURITY.name)
    yield from _key_of_source(pair)
    yield from _secrets_of_job(pair)
    for leaf in pair.leaves:
        if leaf.at[0] in ("Environment", "HyperParameters"):
            name = str(leaf.at[-1])
            if holds_secret(name, leaf.old) or holds_secret(name, leaf.new):
                yield pair.at_leaf(SECURITY.name, leaf, f"a secret in plain text: {quoted(name)}", brief="secrets")
    yield from _secrets_of_build(pair)
    yield from _secrets_of_image(pair)
    yield from _registries(pair)
    yield from _outer_data(pair)


def _outer_data(pair: Pair) -> Iterator[Change]:
    """Yield local data that lie outside of the repository now: no request has them, but they may travel to S3."""
    for name, local in pair.new.outer_data.items():
        if pair.old.outer_data.get(name) != local:
            what = "local data outside of the repository: `submit --upload-data` uploads them, `run` takes them"
            path = ("channels", name, "local")
            yield pair.change(
                SECURITY.name, path, what, old=pair.old.outer_data.get(name), new=local, brief="local data"
            )


def _key_of_source(pair: Pair) -> Iterator[Change]:
    """Yield the key of the uploaded code, which no request contains: only specs have it."""
    old, new = pair.old.source_key, pair.new.source_key
    if old != new and pair.old.request and pair.new.request:
        yield pair.change(
            SECURITY.name, ("source", "kms_key"), "KMS key of the uploaded code", old=old, new=new, brief="KMS key"
        )


def _secrets_of_job(pair: Pair) -> Iterator[Change]:
    """Yield variables that get the value of a different secret; the ARNs are shown."""
    for _, before, after in pair.settings("secrets"):
        old, new = (found if isinstance(found, dict) else {} for found in (before, after))
        yield from _of_secrets(pair, ("secrets",), "secret", old, new)


def _secrets_of_build(pair: Pair) -> Iterator[Change]:
    """Yield secrets of the build that come from somewhere else, which no layer and no request contains."""
    old, new = pair.old.build_secrets, pair.new.build_secrets
    if old is not None and new is not None:
        yield from _of_secrets(pair, ("image", "secrets"), "secret of the build", old, new)
        for name in (name for name in new if old.get(name) == new[name]):
            places = pair.places(("image", "secrets", name, "file"))
            if places and places[0] != places[1]:
                what = f"secret of the build {quoted(name)} is another file: its path is relative to the spec"
                yield pair.change(
                    SECURITY.name, ("image", "secrets", name), what, old=places[0], new=places[1], brief=quoted(name)
                )


def _of_secrets(
    pair: Pair, path: Path, noun: str, old: Mapping[str, object], new: Mapping[str, object]
) -> Iterator[Change]:
    for name in dict.fromkeys([*new, *old]):
        was, will = old.get(name), new.get(name)
        if was != will:
            how = "is new" if was is None else "is gone" if will is None else "changed"
            what = f"{noun} {quoted(name)} {how}"
            yield pair.change(SECURITY.name, (*path, name), what, old=was, new=will, brief=quoted(name))


def _secrets_of_image(pair: Pair) -> Iterator[Change]:
    old, new = (_named(version) for version in (pair.old, pair.new))
    for key in dict.fromkeys([*new, *old]):
        was, will = (items[key].value if key in items else None for items in (old, new))
        if was != will and (holds_secret(key[1], was) or holds_secret(key[1], will)):
            what = f"a secret in plain text, in the image: {quoted(key[1])}"
            yield pair.change(SECURITY.name, (new.get(key) or old[key]).path, what, old=was, new=will, brief="secrets")


def _named(version: JobVersion) -> dict[tuple[str, str], LayerItem]:
    layers = version.layers or {}
    return {(layer, item.name): item for layer in (ENV, LABELS) for item in layers.get(layer, ())}


def hidden_changes(reported: Sequence[Change]) -> Iterator[Change]:
    """Yield one for each change whose values are not shown whole: no mask knows where a secret ends in a command."""
    places = {change.path for change in reported if change.kind == SECURITY.name}
    for change in reported:
        if change.hides and change.kind != "cosmetic" and change.path not in places:
            places.add(change.path)
            what = "a secret in plain text: not all that changed is shown"
            yield replace(change, kind=SECURITY.name, old=None, new=None, what=what, brief="secrets", rise=None)


def _registries(pair: Pair) -> Iterator[Change]:
    """Yield registries that differ: of the job's image, and of its base image."""
    old, new = (member(v.payload, "AlgorithmSpecification", "TrainingImage") for v in (pair.old, pair.new))
    yield from _registry(pair, "registry of the image", old, new, ("image",))
    if pair.new.layers is not None:
        # A ready image is what the base replaces.
        was = _base(pair.old) if pair.old.layers is not None or pair.old.request is None else old
        yield from _registry(pair, "registry of the base image", was, _base(pair.new), ("image", "base"))


def _registry(pair: Pair, what: str, old: object, new: object, path: tuple[str, ...]) -> Iterator[Change]:
    before, after = (_registry_of(uri) for uri in (old, new))
    if before is not None and after is not None and before != after:
        yield pair.change(SECURITY.name, path, what, old=before, new=after, brief="registry")


def _base(version: JobVersion) -> object:
    bases = [item.value for item in (version.layers or {}).get(BASE, ()) if item.name == "base"]
    return str(bases[0]).split()[-1] if bases else None


def _registry_of(uri: object) -> str | None:
    reference = parsed_reference(uri) if isinstance(uri, str) else None
    return None if reference is None else reference.registry or DOCKER_HUB


SECURITY = Kind(
    name="security",
    meaning="role, KMS keys, network, isolation, encryption, registries of the image and of the base image, the "
    "algorithm, rules of Debugger and Profiler, secrets of the job and of the build, secrets in plain text (masked), "
    "what a mask hides in part, remote debugging, container entrypoint, access to file systems, local data outside of "
    "the repository, changed settings",
    changes=_security_changes,
    verdict=listing("changes security"),
)
