"""An image as a file for `docker load`: the format of `docker save`."""

from __future__ import annotations

import os
from collections.abc import Iterator

from smspec.output.atomic_file import OutputFailed, write_whole_bytes
from smspec.output.contents import TAR_END, tar_end_of, tar_header
from smspec.publishing.assembled.assembly import AssembledImage
from smspec.publishing.assembled.base_layers import GZIP
from smspec.publishing.assembled.image_config import as_json
from smspec.publishing.publication import PublishFailed
from smspec.registry.manifest import Blob, ImageLayer
from smspec.render.image_settings import EPOCH

SUFFIX = ".image.tar"
_LIST = "manifest.json"


def write_archive(image: AssembledImage, uri: str, path: str) -> bool:
    """Write an image to a file in one step; return whether it was not there yet. Raise PublishFailed.

    A file that smspec did not write is never replaced.
    """
    head = _head(image, uri)
    found = _beginning(path, len(head))
    if found is not None and not found.startswith(_LIST.encode() + b"\0"):
        raise PublishFailed(1, f"`{path}` exists, and smspec did not write it; move it, or name another --output")
    # Written in one step, so a file with this beginning is whole: the list has the digests of all the rest.
    if found == head:
        return False
    try:
        write_whole_bytes(path, _archive(image, head))
    except OutputFailed as failure:
        raise PublishFailed(3, str(failure)) from None
    return True


def _head(image: AssembledImage, uri: str) -> bytes:
    listed = [{"Config": _config_name(image), "RepoTags": [uri], "Layers": [_name(layer) for layer in image.layers]}]
    return b"".join(_member(_LIST, as_json(listed)))


def _archive(image: AssembledImage, head: bytes) -> Iterator[bytes]:
    yield head
    yield from _member(_config_name(image), image.config)
    for layer in dict.fromkeys(image.layers):
        yield _header(_name(layer), layer.blob)
        yield from image.chunks(layer.blob)
        yield tar_end_of(layer.blob.size)
    yield TAR_END


def _member(name: str, content: bytes) -> Iterator[bytes]:
    yield tar_header(name, len(content), executable=False, time=EPOCH)
    yield content
    yield tar_end_of(len(content))


def _header(name: str, blob: Blob) -> bytes:
    return tar_header(name, blob.size, executable=False, time=EPOCH)


def _config_name(image: AssembledImage) -> str:
    return f"{image.config_blob.digest.partition(':')[2]}.json"


def _name(layer: ImageLayer) -> str:
    return layer.blob.digest.replace(":", "-") + (".tar.gz" if layer.media_type == GZIP else ".tar")


def _beginning(path: str, size: int) -> bytes | None:
    """Return the first bytes of a file; None if it does not exist."""
    try:
        with open(path, "rb") as file:
            return file.read(size)
    except FileNotFoundError:
        return None
    except OSError as fault:
        raise PublishFailed(3, f"cannot read `{path}`: {os.strerror(fault.errno or 0).lower()}") from None
