"""The config and the manifest of an image, from those of its base."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable

from smspec.publishing.assembled.file_layers import FileLayer
from smspec.registry.manifest import ImageLayer
from smspec.render.image_settings import EPOCH, ImageSettings
from smspec.service.image_reference import SHA256
from smspec.wire.fault import BadResponse
from smspec.wire.json_body import member, typed, word

CONFIG_TYPE = "application/vnd.docker.container.image.v1+json"
_PLATFORM = ("architecture", "os", "variant", "os.version", "os.features")
_INHERITED = ("User", "ExposedPorts", "Volumes", "WorkingDir", "StopSignal", "Healthcheck", "Shell", "ArgsEscaped")
"""What an image takes from its base unchanged. A new entrypoint removes Cmd, as in a Dockerfile."""


def image_config(
    base: dict[str, object], count: int, settings: ImageSettings, added: Iterable[FileLayer]
) -> dict[str, object]:
    """Return the config of an image. ``count``: how many layers the manifest of its base lists.

    Raise `BadResponse` for a config of the base that is wrong, or that has commands for images made from it.
    """
    inherited = _object(base, "config")
    if inherited.get("OnBuild"):
        raise BadResponse("it has ONBUILD commands, which run when an image is made from it; use an engine")
    layers = [word({"digest": each}, "digest", SHA256) for each in member(_object(base, "rootfs"), "diff_ids", list)]
    if len(layers) != count:
        raise BadResponse(f"its config lists {len(layers)} layers, and its manifest {count}")
    added = tuple(added)
    own = {name: inherited[name] for name in _INHERITED if inherited.get(name)}
    own["Env"] = [f"{name}={value}" for name, value in settings.variables(_variables(inherited)).items()]
    own["Labels"] = {**_texts(inherited, "Labels"), **settings.labels}
    own["Entrypoint"] = [*settings.entrypoint]
    if settings.user:
        own["User"] = settings.user
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(EPOCH))
    history = [typed(each, dict, "`history`") for each in typed(base.get("history") or [], list, "`history`")]
    return {
        **{name: base[name] for name in _PLATFORM if base.get(name)},
        "config": own,
        "created": created,
        "history": [*history, *({"created": created, "created_by": layer.about} for layer in added)],
        "rootfs": {"type": "layers", "diff_ids": [*layers, *(layer.diff_id for layer in added)]},
    }


def image_manifest(config: bytes, digest: str, layers: Iterable[ImageLayer]) -> bytes:
    """Return the manifest of an image; ``digest`` is that of its config."""
    return as_json(
        {
            "schemaVersion": 2,
            "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
            "config": {"mediaType": CONFIG_TYPE, "size": len(config), "digest": digest},
            "layers": [
                {"mediaType": layer.media_type, "size": layer.blob.size, "digest": layer.blob.digest}
                for layer in layers
            ],
        }
    )


def as_json(value: object) -> bytes:
    """Return the only text of a value: its bytes have a digest."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")


def base_variables(base: dict[str, object]) -> dict[str, str]:
    """Return the variables in the config of a base. Raise `BadResponse`."""
    return _variables(_object(base, "config"))


def _variables(config: dict[str, object]) -> dict[str, str]:
    lines = typed(config.get("Env") or [], list, "`Env`")
    return {name: value for name, _, value in (typed(line, str, "`Env`").partition("=") for line in lines)}


def _texts(config: dict[str, object], name: str) -> dict[str, str]:
    found = _object(config, name)
    return {key: typed(value, str, f"`{name}`") for key, value in found.items()}


def _object(holder: dict[str, object], name: str) -> dict[str, object]:
    """Return a member that is an object; empty if it is missing, or null."""
    return typed(holder.get(name) or {}, dict, f"`{name}`")
