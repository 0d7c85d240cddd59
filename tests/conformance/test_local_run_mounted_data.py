"""Channels of File and FastFile mode that hosts see where the author has them: the same as copies, and no copies."""

from __future__ import annotations

import json
import os
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from support.local.local_jobs import DEADLINE, LocalJob, script
from support.local.ordinary_user import OrdinaryJob
from support.sampled_cases import left_out

pytestmark = pytest.mark.needs_namespaces

SHOW = """
    import hashlib, json, os, stat
    root = os.environ["SM_CHANNEL_TRAIN"]
    found = {}
    for above, names, files in os.walk(root):
        for name in [*names, *files]:
            path = os.path.join(above, name)
            kind = "link" if os.path.islink(path) else "directory" if os.path.isdir(path) else "file"
            content = hashlib.sha256(open(path, "rb").read()).hexdigest() if kind == "file" else ""
            found[os.path.relpath(path, root)] = [kind, content, os.access(path, os.R_OK)]
    manifest = json.load(open(root + "-manifest"))
    print("FOUND", json.dumps([found, manifest], sort_keys=True), flush=True)
"""


def whole(directory: Path) -> str:
    return ""


def linked(directory: Path) -> str:
    (directory / "elsewhere").mkdir()
    (directory / "elsewhere/far").write_text("far away")
    (directory / "data/link").symlink_to(directory / "elsewhere/far")
    (directory / "data/links").symlink_to(directory / "elsewhere")
    return ""


def strange(directory: Path) -> str:
    (directory / "data/empty").mkdir()
    os.mkfifo(directory / "data/fifo")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(directory / "data/socket"))
    return ""


def sharded(directory: Path) -> str:
    return ", distribution: ShardedByS3Key"


def single(directory: Path) -> str:
    return ", local: data/sub/c"


def listed(directory: Path) -> str:
    (directory / "listed").write_text('[{"prefix": "data/"}, "sub/c", "a", "a"]')
    return ", local: listed, s3_data_type: ManifestFile"


def private(directory: Path) -> str:
    (directory / "data/a").chmod(0o600)
    (directory / "data/sub").chmod(0o700)
    return ""


def views(job: LocalJob, engine: str) -> list[object]:
    process = job.start({"HOME": str(job.directory)}, engine=engine)
    _, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0, err
    logs = [path.read_text().splitlines() for path in sorted((job.run_directory / "logs").iterdir())]
    return [json.loads(line[6:]) for log in logs for line in log if line.startswith("FOUND ")]


ARRANGED = [
    ("File", listed),  # FastFile mode has no manifests
    *((mode, each) for mode in ("File", "FastFile") for each in (whole, linked, strange, sharded, single, private)),
]


# What an ordinary user may mount depends on what the channel has, not on its mode: the sample has one of each.
@pytest.mark.parametrize(
    ("mode", "arrange", "kind"),
    [
        *((mode, arrange, LocalJob) for mode, arrange in ARRANGED),
        *(
            left_out(mode, arrange, OrdinaryJob)
            if mode == "FastFile" or arrange in (sharded, single)
            else (mode, arrange, OrdinaryJob)
            for mode, arrange in ARRANGED
        ),
    ],
)
def test_mounted_data_equal_copies(kind, mode, arrange):
    """Names, kinds, content, and the manifest are those of the engine `process`, which copies."""
    with tempfile.TemporaryDirectory(prefix="smspec-mounted-") as above:
        os.chmod(above, 0o755)
        compare(kind(Path(above) / "a jöb", engine="namespace"), mode, arrange)


def compare(job: LocalJob, mode: str, arrange: Callable[[Path], str]) -> None:
    for name in ("a", "b", ".hidden", "sub/c", "ein ä, mit\ttab"):
        job.write(f"data/{name}", f"content of {name}")
    more = arrange(job.directory)
    local = "" if "local:" in more else ", local: data/"
    prefix = "listed" if arrange is listed else "train/"
    channel = f'channels: {{train: {{s3: "s3://data/{prefix}"{local}{more}, input_mode: {mode}}}}}\n'
    hosts = f"hosts: {{instance_type: ml.m5.large, count: {2 if arrange is sharded else 1}, volume: 1GB}}\n"
    script(job, SHOW, channel + hosts)
    mounted = views(job, "namespace")
    assert not any(path.is_file() for path in (job.host() / "input/data/train").rglob("*"))
    assert mounted == views(job, "process")
    assert len(mounted) == (2 if arrange is sharded else 1)
