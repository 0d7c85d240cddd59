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


LIBRARY = "usr/local/lib/python3.12/"
PACKAGES = f"{LIBRARY}site-packages/"
PYTHON = {
    "usr/local/bin/python3.12": b"",
    "usr/local/bin/python3": "python3.12",
    "usr/local/man": "share/man",
    f"{LIBRARY}os.py": b"",
    f"{PACKAGES}": None,
    f"{PACKAGES}pip/__init__.py": b"",
    f"{PACKAGES}pip/old.py": b"",
    f"{PACKAGES}pip-23.0.dist-info/METADATA": b"",
    f"{PACKAGES}pip-23.0.dist-info/RECORD": b"pip/__init__.py,,\r\npip/old.py,,\r\n../../../bin/pip,,\r\n"
    b"pip-23.0.dist-info/METADATA,,\r\npip-23.0.dist-info/RECORD,,\r\n",
    "usr/local/bin/pip": b"",
}
"""A file, the target of a link, or None for a directory, as in the official image of Python."""


def layer(files: dict[str, bytes | str | None]) -> bytes:
    """Return a tar file with files, links, and directories."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            if isinstance(content, bytes):
                entry.size = len(content)
            elif content is None:
                entry.type, entry.mode, entry.mtime, entry.gid = tarfile.DIRTYPE, 0o2775, 1234, 50
            else:
                entry.type, entry.linkname = tarfile.SYMTYPE, content
            archive.addfile(entry, io.BytesIO(content) if isinstance(content, bytes) else None)
    return stream.getvalue()


def add_base(
    server: Registry,
    repository: str,
    kind: str = GZIP,
    files: dict[str, bytes | str | None] | None = None,
    architecture: str = "amd64",
    **replaced: object,
) -> str:
    """Put an image of two layers in a repository; return its reference with its digest."""
    plain = [layer({"etc/one": b"1", **(files or {})}), layer({"etc/two": bytes(range(256)) * 20})]
    packed = [gzip.compress(each, mtime=0) for each in plain]
    config = json.dumps(
        {
            "os": "linux",
            "architecture": architecture,
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
