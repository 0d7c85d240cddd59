"""Read the training images from the files of an installed sagemaker-core.

For developers of smspec, not for its users.
"""

from __future__ import annotations

import glob
import json
import os
import re
from collections.abc import Iterator

from smspec.source.frozen import dataclass

DISTRIBUTION = "sagemaker-core"
CONFIGURATIONS = "sagemaker/core/image_uri_config"
_FROM_BASE = r"(?:pytorch|tensorflow)(.*)"
# The processor of Trainium in the configuration; a tag has the name of its software.
_TRAINIUM = "trn"

Config = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class SdkImage:
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


def sdk_images(directory: str) -> Iterator[SdkImage]:
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


def _of_version(framework: str, version: str, below: Config, config: Config) -> Iterator[SdkImage]:
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
                yield SdkImage(
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
