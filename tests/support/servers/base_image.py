"""A base image in a registry for tests, with layers that can be unpacked."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile

from support.servers.registry_server import MANIFEST, Registry, descriptor, digest_of

GZIP = "application/vnd.oci.image.layer.v1.tar+gzip"
SETTINGS = {
    "Env": ["PATH=/usr/local/bin:/usr/bin", "PYTHON_VERSION=3.12.4", "PYTHON_SHA256=0"],
    "Cmd": ["python3"],
    "Labels": {"vendor": "tests"},
    "WorkingDir": "/work",
}


def layer(name: str, content: bytes) -> bytes:
    """Return a tar file with one file."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    return stream.getvalue()


def add_base(server: Registry, repository: str, kind: str = GZIP, **replaced: object) -> str:
    """Put an image of two layers in a repository; return its reference with its digest."""
    plain = [layer("etc/one", b"1"), layer("etc/two", bytes(range(256)) * 20)]
    packed = [gzip.compress(each, mtime=0) for each in plain]
    config = json.dumps(
        {
            "os": "linux",
            "architecture": "amd64",
            "config": {**SETTINGS, **replaced},
            "history": [{"created_by": "one"}, {"created_by": "two"}],
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(each).hexdigest()}" for each in plain]},
        }
    ).encode()
    manifest = json.dumps(
        {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": descriptor("application/vnd.oci.image.config.v1+json", config),
            "layers": [descriptor(kind, each) for each in packed],
        }
    ).encode()
    for content in (config, *packed):
        server.contents[repository, digest_of(content)] = "application/octet-stream", content
    server.contents[repository, digest_of(manifest)] = MANIFEST, manifest
    return f"{server.host}/{repository}:3.12@{digest_of(manifest)}"
