"""Wheels with any content, right or wrong, for tests of what installs them."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from pathlib import Path

METADATA = b"Metadata-Version: 2.1\nName: ctr-model\nVersion: 1.0\n"
INFO = "ctr_model-1.0.dist-info"
DATA = "ctr_model-1.0.data"
FORMAT = b"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def record_line(path: str, content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
    return f"{path},sha256={digest},{len(content)}\n"


def write_wheel(
    directory: Path,
    files: dict[str, bytes],
    *,
    record: str | None = None,
    info: str = INFO,
    executable: tuple[str, ...] = (),
    links: tuple[str, ...] = (),
    format: bytes = FORMAT,
    name: str = "ctr_model-1.0-py3-none-any.whl",
) -> str:
    """Write a wheel; return its path. ``record``: its RECORD, if it is not to be right."""
    contents = {**files, f"{info}/METADATA": METADATA, f"{info}/WHEEL": format}
    lines = "".join(record_line(f'"{path}"' if "," in path else path, content) for path, content in contents.items())
    path = directory / name
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for each, content in {**contents, f"{info}/RECORD": (record or f"{lines}{info}/RECORD,,\n").encode()}.items():
            entry = zipfile.ZipInfo(each)
            mode = 0o120777 if each in links else 0o100755 if each in executable else 0o100644
            entry.external_attr = mode << 16
            archive.writestr(entry, content)
    return str(path)
