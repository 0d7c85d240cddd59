"""The content of an image, layer by layer, by keys of the spec; from a plan, or from the Dockerfile of a build."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

from smspec.plan import BuildInputs, ImagePlan
from smspec.render.dockerfile import BOTO3, BUILD_USER
from smspec.source import Path
from smspec.source.frozen import dataclass
from smspec_runtime.run_plan import RunPlan

BASE = "base"
SYSTEM_PACKAGES = "system packages"
PYTHON_PACKAGES = "python packages"
RUN = "run"
SOURCE = "source"
RUNTIME = "runtime"
ENTRY_POINT = "entry point"
ENV = "env"
SECRETS = "secrets of the build"
LABELS = "labels"
REQUIREMENTS = "requirements.txt"
"""The name of the item with the digest of all requirements."""

LAYERS = (BASE, ENV, SECRETS, SYSTEM_PACKAGES, PYTHON_PACKAGES, RUN, RUNTIME, ENTRY_POINT, SOURCE, LABELS)
"""In build order: a changed layer is rebuilt with all that follow."""

_RUN_PLAN_PATHS: dict[str, Path] = {"launcher": ("distribution",), "delivery": ("source", "delivery")}
_OUR_LABELS = ("org.opencontainers.image.base.name", "smspec.image-digest", "smspec.lock-digest")
_OUR_COMMANDS = ("python3 -c 'import sys; sys.exit(sys.version_info", "python3 -m compileall -qq --invalidation-mode")


@dataclass(frozen=True, slots=True)
class LayerItem:
    """One part of a layer: the key of the spec that adds it, its name, and its value."""

    path: Path
    name: str
    value: object


Layers = dict[str, tuple[LayerItem, ...]]


def layers_of_plan(image: ImagePlan, run: RunPlan | None, build_inputs: BuildInputs) -> Layers:
    """Return everything that affects the tag of an image."""
    packages = (*image.listed_packages, *((BOTO3,) if image.adds_boto3 else ()))
    python = [LayerItem(("image", "python_packages", i), "", text) for i, text in enumerate(packages)]
    if image.environment is not None:
        python.append(_requirements(image.environment.digest.removeprefix("sha256:")))
    elif build_inputs.requirements is not None:
        python.append(_requirements(hashlib.sha256(build_inputs.requirements).hexdigest()))
    return {
        BASE: (
            LayerItem(("image", "base"), "base", image.base),
            LayerItem(("image", "platform"), "platform", image.platform),
        ),
        ENV: tuple(
            LayerItem(("image", key, name), name, value)
            for key, texts in (("env", image.env), ("env_prepend", image.env_prepend), ("build_args", image.build_args))
            for name, value in texts.items()
        ),
        SECRETS: tuple(LayerItem(("image", "secrets", name), name, kind) for name, kind in image.secrets.items()),
        SYSTEM_PACKAGES: tuple(
            LayerItem(("image", "system_packages", i), "", text) for i, text in enumerate(image.system_packages)
        ),
        PYTHON_PACKAGES: tuple(python),
        RUN: tuple(
            LayerItem(("image", key, i), "", text)
            for key, commands in (("pre_install", image.pre_install), ("run", image.run))
            for i, text in enumerate(commands)
        ),
        LABELS: (
            LayerItem(("name",), "title", image.title),
            *(LayerItem(("image", "labels", name), name, value) for name, value in image.labels.items()),
        ),
        RUNTIME: (
            LayerItem((), "runtime", build_inputs.runtime.digest),
            LayerItem((), "templates", build_inputs.templates),
        ),
        ENTRY_POINT: (
            *started({} if run is None else run._asdict()),
            LayerItem(("distribution",), "ssh", image.needs_ssh),
            *(
                LayerItem(("image", "user"), "user", user)
                for user in (() if image.user is None else (BUILD_USER, image.user))
            ),
        ),
        SOURCE: (LayerItem(("source",), "", build_inputs.source.digest),) if image.holds_source else (),
    }


def layers_of_build(
    dockerfile: str, run_plan: dict[str, object], runtime: str | None, requirements: str | None, source: str | None
) -> Layers:
    """Return the same from a Dockerfile that smspec wrote; the others are the digests of the files that it copies."""
    found: dict[str, list[LayerItem]] = {name: [] for name in LAYERS}
    found[SECRETS] = [LayerItem(("image", "secrets", name), name, kind) for kind, name in _secrets(dockerfile)]
    for layer, path, name, text in _instructions(dockerfile):
        found[layer].append(LayerItem(path, name, text))
    found[RUNTIME].append(LayerItem((), "runtime", runtime))
    found[ENTRY_POINT] += started(run_plan)
    if requirements is not None:
        found[PYTHON_PACKAGES].append(_requirements(requirements))
    if source is not None:
        found[SOURCE].append(LayerItem(("source",), "", source))
    return {name: tuple(items) for name, items in found.items()}


def _requirements(digest: str) -> LayerItem:
    return LayerItem(("image", "python_requirements"), REQUIREMENTS, digest)


def started(members: dict[str, object]) -> Iterator[LayerItem]:
    """Yield the members of a run plan about how the script is started."""
    for name, value in sorted(members.items()):
        yield LayerItem(_RUN_PLAN_PATHS.get(name, ("entry_point",)), name.replace("_", " "), value)


def _instructions(dockerfile: str) -> Iterator[tuple[str, Path, str, str]]:
    """Yield (layer, path, name, text) of every instruction; what smspec writes to each image belongs to the runtime."""
    lines = [line for line in dockerfile.split("\n") if line and not line.startswith("#")]
    for text in re.split(r"(?<!\\)\n", "\n".join(lines)):
        word, _, rest = text.partition(" ")
        name, _, value = rest.partition("=")
        name = name.strip("\"'")
        if word == "FROM":
            yield BASE, ("image", "base"), "base", rest
        elif word in ("ENV", "ARG"):
            key = "build_args" if word == "ARG" else "env_prepend" if f"${{{name}:+:" in value else "env"
            yield ENV, ("image", key, name), name, value
        elif word == "LABEL":
            if name not in _OUR_LABELS:
                is_title = name == "org.opencontainers.image.title"
                yield LABELS, ("name",) if is_title else ("image", "labels", name), "title" if is_title else name, value
        elif word == "RUN" and "target=/var/cache/apt" in rest:
            yield from _words(SYSTEM_PACKAGES, ("image", "system_packages"), rest.partition("recommends")[2])
        elif word == "RUN" and "target=/root/.cache/pip" in rest:
            for words in rest.split("pip install")[1:]:
                yield from _words(PYTHON_PACKAGES, ("image", "python_packages"), words)
        elif word == "RUN" and "ssh-keygen" in rest:
            yield ENTRY_POINT, ("distribution",), "ssh", rest
        elif word == "RUN" and rest.startswith(_OUR_COMMANDS):
            yield RUNTIME, (), "", rest
        elif word == "RUN":
            yield RUN, ("image", "run"), "", rest
        elif word == "USER":
            yield ENTRY_POINT, ("image", "user"), "user", rest
        elif not text.startswith(("COPY source/", "COPY requirements.txt")):  # their digests are more specific
            yield RUNTIME, (), "", text


def _secrets(dockerfile: str) -> list[tuple[str, str]]:
    """Return the (kind, name) of each secret: the Dockerfile begins with the options that a build of it needs."""
    options = re.findall(r"--secret id=(\w+),(env|src)=", dockerfile.partition("\nFROM ")[0])
    return [("env" if source == "env" else "file", name) for name, source in options]


def _words(layer: str, path: Path, text: str) -> Iterator[tuple[str, Path, str, str]]:
    """Yield the arguments of a command, which ends where the next one begins."""
    import shlex  # imported late: only needed for a Dockerfile of a build

    for word in shlex.split(text.replace("\\\n", " ").partition(" && ")[0].partition(" ;")[0]):
        yield layer, path, "", word
