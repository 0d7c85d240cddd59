"""Read what AWS publishes as packages: the request model of botocore, and the images of the SageMaker SDK.

Packages are only read as files, so nothing here can call AWS. `smspec facts --update` and the tools of maintainers use
it.
"""

from __future__ import annotations

import glob
import gzip
import importlib.metadata
import importlib.util
import json
import os
import re
from collections.abc import Iterator

from smspec.service.facts.images import ListedImage, images_of, repositories
from smspec.source.frozen import dataclass

ROOT = "CreateTrainingJobRequest"
BEYOND_REQUESTS = ("ReservedCapacityInstanceType",)
"""Shapes of other requests that rules read."""
KEPT = ("type", "required", "min", "max", "pattern", "enum")

DISTRIBUTION = "sagemaker-core"
CONFIGURATIONS = "sagemaker/core/image_uri_config"
SDKS = ((DISTRIBUTION, CONFIGURATIONS), ("sagemaker", "sagemaker/image_uri_config"))
"""The packages with images, the newer one first, and where they have them."""

_FROM_BASE = r"(?:pytorch|tensorflow)(.*)"
# The processor of Trainium in the configuration; a tag has the name of its software.
_TRAINIUM = "trn"

Config = dict[str, object]
ServiceModel = dict[str, dict[str, dict[str, object]]]


def service_model() -> ServiceModel | None:
    """Return the model of SageMaker in the installed botocore; None without one, as in a botocore without its data."""
    # Located, not imported: reading one file needs no client.
    package = importlib.util.find_spec("botocore")
    if package is None or package.origin is None:
        return None
    pattern = os.path.join(os.path.dirname(package.origin), "data", "sagemaker", "*", "service-2.json*")
    newest = max(glob.glob(pattern), default=None)
    if newest is None:
        return None
    with (gzip.open if newest.endswith(".gz") else open)(newest, "rt", encoding="utf-8") as file:
        model: ServiceModel = json.load(file)
    return model


def botocore_version() -> str:
    """Return the version of the installed botocore."""
    return importlib.metadata.version("botocore")


def pinned_text(service_model: ServiceModel, *, version: str, date: str) -> str:
    """Return the file of pinned shapes: for each that a request can contain or a rule reads, what a check needs."""
    shapes: dict[str, dict[str, object]] = {}
    waiting = [ROOT, *(name for name in BEYOND_REQUESTS if name in service_model["shapes"])]  # older ones lack some
    while waiting:
        name = waiting.pop()
        if name in shapes:
            continue
        shape = service_model["shapes"][name]
        kept = {key: shape[key] for key in KEPT if key in shape}
        members = _references(shape.get("members"))
        if members:
            kept["members"] = members
        inner = _references({key: shape[key] for key in ("key", "member", "value") if key in shape})
        shapes[name] = kept | inner
        waiting += [*members.values(), *inner.values()]
    document = {"botocore": version, "date": date, "root": ROOT, "shapes": dict(sorted(shapes.items()))}
    return json.dumps(document, indent=1) + "\n"


def _references(members: object) -> dict[str, str]:
    return {name: reference["shape"] for name, reference in members.items()} if isinstance(members, dict) else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfiguredImage:
    """A training image that the SDK can name. ``registries``: region → account, sorted by region."""

    repository: str
    tag: str
    framework: str
    version: str
    aliases: tuple[str, ...]
    base: str
    python: str
    processor: str
    registries: tuple[tuple[str, str], ...]


def sdk_images(directory: str) -> Iterator[ConfiguredImage]:
    """Yield every training image of the configurations in a directory, file by file."""
    for path in sorted(glob.glob(os.path.join(directory, "*.json"))):
        with open(path, encoding="utf-8") as file:
            content = _config(json.load(file))
        framework = os.path.basename(path).removesuffix(".json")
        scope = content.get("scope")
        config = _config(content.get("training"))
        if isinstance(scope, list) and "training" in scope:
            config = content
        for version, below in _config(config.get("versions")).items():
            yield from _of_version(framework, version, _config(below), config)


@dataclass(frozen=True, slots=True)
class InstalledSdk:
    """``name``: of the package, with its version; ``directory``: where it has the configurations of images."""

    name: str
    directory: str


def installed_sdk() -> InstalledSdk | None:
    """Return the installed package with images, the newer one of both; None without one."""
    for name, place in SDKS:
        try:
            found = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        directory = str(found.locate_file(place))
        if os.path.isdir(directory):
            return InstalledSdk(f"{name} {found.version}", directory)
    return None


def known_tags() -> dict[str, frozenset[str]]:
    """Return the tags in the table of images: repository → tags."""
    return {name: frozenset(tag for listed in images_of(name) for tag in listed.tags) for name in repositories()}


def newer_tags(directory: str) -> dict[str, tuple[str, ...]]:
    """Return the tags of images in a directory of the SDK that the table of images lacks: repository → tags."""
    found: dict[str, dict[str, None]] = {}
    known = known_tags()
    for image in sdk_images(directory):
        # Nothing is reported about the tags of other repositories.
        for tag in _tags(image) if image.repository in known else ():
            if tag not in known[image.repository]:
                found.setdefault(image.repository, {})[tag] = None
    return {name: tuple(sorted(tags)) for name, tags in sorted(found.items())}


def _tags(image: ConfiguredImage) -> tuple[str, ...]:
    return ListedImage(
        repository=image.repository,
        tag=image.tag,
        full_tag="",
        version=image.version,
        aliases=image.aliases,
        base=image.base,
        python=image.python,
        interpreter="",
        processors=(image.processor,),
        column="",
        end_of_patch="",
        is_of_sdk=True,
    ).tags


def _of_version(framework: str, version: str, below: Config, config: Config) -> Iterator[ConfiguredImage]:
    aliases = tuple(name for name, full in _config(config.get("version_aliases")).items() if full == version)
    if "registries" in below:
        parts = [("", below)]
    else:
        # The configurations of a base framework, or of a version of Python.
        parts = [(name, _config(part)) for name, part in below.items() if "registries" in _config(part)]
    for name, part in parts:
        base = name if re.fullmatch(_FROM_BASE, name) else ""
        pythons = _words(part.get("py_versions")) or [name.removeprefix(base)]
        for python in pythons:
            for processor in _words(config.get("processors")) or _words(part.get("processors")) or [""]:
                yield ConfiguredImage(
                    repository=str(part["repository"]),
                    tag=_tag(part, version, base, python, processor),
                    framework=framework,
                    version=version,
                    aliases=aliases,
                    base=base,
                    python=python,
                    processor=_software(part, processor),
                    registries=tuple(sorted((region, str(a)) for region, a in _config(part["registries"]).items())),
                )


def _tag(part: Config, version: str, base: str, python: str, processor: str) -> str:
    """Return the tag that the SDK makes: version, processor, Python, and the build."""
    match = re.fullmatch(_FROM_BASE, base)
    prefix = f"{match[1]}-transformers{version}" if match else str(part.get("tag_prefix", version))
    build = str(_config(part.get("container_version")).get(processor, ""))
    newest = max(_words(part.get("sdk_versions")), key=_numbers, default="")
    shown = "" if part.get("processor_in_tag") is False else _software(part, processor)
    return "-".join(word for word in (prefix, shown, python, newest, build) if word)


def _software(part: Config, processor: str) -> str:
    if processor != _TRAINIUM:
        return processor
    return "neuronx" if str(part["repository"]).endswith("neuronx") else "neuron"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall("[0-9]+", version))


def _config(value: object) -> Config:
    return value if isinstance(value, dict) else {}


def _words(value: object) -> list[str]:
    return [str(word) for word in value] if isinstance(value, list) else []
