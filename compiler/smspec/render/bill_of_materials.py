"""The software bill of materials of a locked image: CycloneDX 1.5 as JSON, https://cyclonedx.org/docs/1.5/json/.

It lists what the lock knows: the Python packages with their hashes, and the base image. It has no time and no serial
number, so that the same lock always gives the same bytes.
"""

from __future__ import annotations

import json
import re

from smspec.plan.plan import ImagePlan

BILL_OF_MATERIALS = "sbom.cdx.json"

_PINNED = re.compile(r"(?m)^([A-Za-z0-9][A-Za-z0-9._-]*)==([^\s;\\]+)((?:[^\n]*\\\n)*[^\n]*)")
_HASH = re.compile(r"--hash=sha(256|384|512):([0-9a-f]+)")


def bill_of_materials(image: ImagePlan, requirements: bytes) -> str:
    """Return the bill of materials of an image whose packages are locked. ``requirements``: their file with hashes."""
    name, _, digest = image.base.partition("@")
    base: dict[str, object] = {"type": "container", "bom-ref": f"base:{image.base}", "name": name}
    if digest:
        base["version"] = digest
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {"type": "container", "bom-ref": "image", "name": image.repository, "version": image.tag}
        },
        "components": [base, *_packages(requirements.decode("utf-8", "replace"))],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _packages(requirements: str) -> list[dict[str, object]]:
    components: list[dict[str, object]] = []
    for name, version, rest in _PINNED.findall(requirements):
        project = re.sub(r"[-_.]+", "-", name).lower()
        locator = f"pkg:pypi/{project}@{version.replace('+', '%2B').replace('!', '%21')}"
        components.append(
            {
                "type": "library",
                "bom-ref": locator,
                "name": project,
                "version": version,
                "hashes": [{"alg": f"SHA-{bits}", "content": content} for bits, content in _HASH.findall(rest)],
                "purl": locator,
            }
        )
    return components
