"""Short names of the training images of AWS: ``pytorch-training:2.5.1-gpu``, without a registry.

A name is REPOSITORY:VERSION[-PROCESSOR][-pyXY], or REPOSITORY:TAG with a tag of the table. The region adds the
registry, the instances add the processor, and the table adds the rest of the tag.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

from smspec.diagnostics.suggestions import nearest
from smspec.service.facts import accounts, images
from smspec.service.facts.images import ListedImage, images_of, repositories
from smspec.service.image_reference import parsed_reference
from smspec.service.instance_types import Processor, processors
from smspec.source import Path
from smspec.source.frozen import dataclass

_PROCESSOR = r"cpu|gpu|neuronx|neuron"
_PARTS = rf"(?P<release>.+?)(?:-(?P<processor>{_PROCESSOR}))?(?:-(?P<python>py[23][0-9]*))?"
HAS_A_PROCESSOR = rf"[-:](?:{_PROCESSOR}|cu[0-9]+)(?:-|$)"
"""What a name contains whose image does not depend on the instances."""

_OF_TRAINING = "-training"
_OF_SAGEMAKER = "sagemaker-"
_MOST_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageName:
    """A name and its parts; None for a missing part."""

    text: str
    repository: str
    tag: str
    release: str
    processor: str | None
    python: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unavailable:
    """Why a name has no image. ``suggestion``: the name that is probably meant."""

    reason: str
    help: str
    suggestion: str = ""


_WITHOUT_A_REGION = Unavailable(
    reason="`region` is not set, so the name has no registry", help="set `region`, or use the full URI"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedImage:
    """A short name at ``path`` of a spec, the name of its entry in a lock, and its URI, or why it has none."""

    path: Path
    key: str
    uri: str | Unavailable
    is_locked: bool


def parsed_name(text: str) -> ImageName | None:
    """Return the parts of a name; None for any other string, such as the name of an image of Docker Hub."""
    if "/" in text or "@" in text:
        return None
    repository, _, tag = text.partition(":")
    if repository not in repositories() or parsed_reference(text) is None:
        return None
    match = re.fullmatch(_PARTS, tag)
    return ImageName(
        text=text,
        repository=repository,
        tag=tag,
        release=match["release"] if match else "",
        processor=match["processor"] if match else None,
        python=match["python"] if match else None,
    )


def expanded(name: ImageName, region: str, hosts: frozenset[Processor]) -> str | Unavailable:
    """Return the URI of the image that a name means in a region, for instances with these processors."""
    found = selected(name, hosts)
    if isinstance(found, Unavailable):
        return found
    image, tag = found
    registry = accounts.registry(image.column, region)
    if registry:
        return f"{registry}/{image.repository}:{tag}"
    there = accounts.regions(image.column)
    near = [known for known in there if known.partition("-")[0] == region.partition("-")[0]] or [*there]
    listed = ", ".join(f"`{known}`" for known in near[:_MOST_SHOWN])
    return Unavailable(
        reason=f"`{name.text}` has no registry in `{region}` {accounts.as_of()}",
        help=f"use the full URI, or run the job in a region such as {listed}",
    )


@lru_cache(maxsize=256)  # jobs of a repository share images
def selected(name: ImageName, hosts: frozenset[Processor]) -> tuple[ListedImage, str] | Unavailable:
    """Return the image that a name means, and its tag. ``hosts`` empty: the processors are unknown."""
    release = _of_release(name)
    python = [image for image in release if name.python in (None, image.python)]
    if not python:
        exact = [image for image in images_of(name.repository) if name.tag in image.tags]
        if exact:
            return exact[0], name.tag
        if not release:
            return _unknown_release(name)
        there = _listed(image.python for image in release)
        return Unavailable(reason=f"`{name.text}` is not listed {images.as_of()}", help=f"use {there}")
    found = _for_processor(name, python, hosts)
    if isinstance(found, Unavailable):
        return found
    newest = max(_age(image) for image in found)
    tags = {image.usual_tag: image for image in found if _age(image) == newest}
    if len(tags) == 1:
        tag, image = tags.popitem()
        return image, tag
    listed = _listed(tags)
    return Unavailable(reason=f"`{name.text}` names {len(tags)} images", help=f"use one of the tags {listed}")


def _of_release(name: ImageName) -> list[ListedImage]:
    """Return the images of the version in a name: what the SDK selects goes before other lists, a version before an
    alias.
    """
    preferences: tuple[Callable[[ListedImage], bool], ...] = (
        lambda image: image.is_of_sdk and name.release == image.releases[0],
        lambda image: image.is_of_sdk and name.release in image.releases,
        lambda image: name.release in image.releases,
    )
    for is_preferred in preferences:
        found = [image for image in images_of(name.repository) if is_preferred(image)]
        if found:
            return found
    return []


def _for_processor(
    name: ImageName, release: list[ListedImage], hosts: frozenset[Processor]
) -> list[ListedImage] | Unavailable:
    """Return the images for the processor in a name, or else for that of the instances."""
    there = dict.fromkeys(each for image in release for each in image.processors)
    if name.processor is not None:
        found = [image for image in release if _is_for(image, name.processor)]
        reason = f"`{name.repository}:{name.release}` has no image for `{name.processor}` {images.as_of()}"
        return found or Unavailable(reason=reason, help=f"use {_listed(there)}")
    if len({image.processors for image in release}) == 1:
        return release
    if len(hosts) != 1:
        reason = "the instance groups differ" if hosts else "that of the instances is unknown"
        return Unavailable(
            reason=f"`{name.text}` has no processor, and {reason}",
            help=f"add {_listed(f'-{each}' for each in there)}",
        )
    (processor,) = hosts
    found = [image for image in release if _is_for(image, processor)]
    reason = f"`{name.text}` has no image for `{processor}` instances {images.as_of()}"
    return found or Unavailable(
        reason=reason, help=f"add {_listed(f'-{each}' for each in there)}, or change the instance type"
    )


def _is_for(image: ListedImage, processor: str) -> bool:
    wanted = ("neuron", "neuronx") if processor == "neuron" else (processor,)
    return any(each in wanted for each in image.processors)


def _unknown_release(name: ImageName) -> Unavailable:
    known = dict.fromkeys(release for image in images_of(name.repository) for release in image.releases)
    if not name.tag:
        return Unavailable(
            reason=f"`{name.text}` has no version", help=f"add a version, such as `{name.text}:{[*known][-1]}`"
        )
    reason = f"`{name.repository}` has no version `{name.release}` {images.as_of()}"
    longer = [release for release in known if re.match(rf"{re.escape(name.release)}[.-]", release)]
    for other in () if longer else _alternatives(name.repository):
        if any(name.release in image.releases for image in images_of(other)):
            return Unavailable(
                reason=reason, help=f"use `{other}`, which has this version", suggestion=f"{other}:{name.tag}"
            )
    numbered = [release for release in known if release[0].isdigit()]
    near = longer[-1] if longer else nearest(name.release, known)
    return Unavailable(
        reason=reason,
        help=f"use a listed version, such as `{near or (numbered or [*known])[-1]}`, or a full URI",
        suggestion=f"{name.repository}:{name.tag.replace(name.release, near, 1)}" if near else "",
    )


def _alternatives(repository: str) -> tuple[str, ...]:
    """Return the repositories that could have other versions of the same framework: AWS has renamed several."""
    longer = f"{repository}{_OF_TRAINING}", f"{_OF_SAGEMAKER}{repository}"
    shorter = repository.removesuffix(_OF_TRAINING), repository.removeprefix(_OF_SAGEMAKER)
    return tuple(other for other in (*longer, *shorter) if other != repository)


def _listed(names: Iterable[str]) -> str:
    """Return names as a list of alternatives."""
    shown = [f"`{name}`" for name in dict.fromkeys(names) if name]
    if not shown:
        return "a full tag"
    rest = f" and {len(shown) - _MOST_SHOWN} more" if len(shown) > _MOST_SHOWN else ""
    *first, last = shown[:_MOST_SHOWN]
    return f"{', '.join(first)}, or {last}{rest}" if len(first) > 1 else " or ".join((*first, last)) + rest


def _age(image: ListedImage) -> tuple[int, ...]:
    """Return the version of Python in a tag as numbers; ``py3`` is older than ``py36``."""
    digits = image.python.removeprefix("py")
    return (int(digits[0]), int(digits[1:] or 0)) if digits else (0, 0)


def named_image(
    path: Path, text: str, *, region: str | None, instance_types: Iterable[str], locked: Mapping[str, str]
) -> NamedImage | None:
    """Return the image that a string stands for; None if it is not a short name.

    ``locked``: the names of a lock. It is read first, so that a new table changes no job.
    """
    if "/" in text or "@" in text:
        return None
    known = None if locked else parsed_name(text)
    if known is None and not locked:
        return None
    hosts = processors(instance_types)
    key = _key(text, region or "", hosts)
    if key in locked:
        return NamedImage(path=path, key=key, uri=locked[key], is_locked=True)
    name = known or parsed_name(text)
    if name is None:
        return None
    uri = expanded(name, region, hosts) if region else _WITHOUT_A_REGION
    return NamedImage(path=path, key=key, uri=uri, is_locked=False)


def _key(text: str, region: str, hosts: frozenset[Processor]) -> str:
    """Return the name of an entry in a lock. It is independent of the table, which may have changed since."""
    is_complete = len(hosts) != 1 or re.search(HAS_A_PROCESSOR, text) is not None
    return f"{text} in {region}" if is_complete else f"{text} on {''.join(hosts)} in {region}"
