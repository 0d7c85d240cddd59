"""The account that examples name: a request that contains it is not finished."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

EXAMPLE_ACCOUNT = "111122223333"
"""Of the documentation of AWS, of the specs that `smspec init` writes, and of the examples."""

_ARN = re.compile(rf"arn:[^:]*:[^:]*:[^:]*:{EXAMPLE_ACCOUNT}:")
_REGISTRY = f"{EXAMPLE_ACCOUNT}.dkr.ecr."


def example_account_fault(request: Any, built_image: str = "") -> str:
    """Return why AWS cannot run a request that has ARNs or images of the example account; empty if it has none.

    ``built_image``: an image whose registry is that of the role's account, so the spec does not contain it.
    """
    found = dict.fromkeys(each for each in _texts(request) if _ARN.match(each) or each.startswith(_REGISTRY))
    if not found:
        return ""
    names = ", ".join(f"`{each}`" for each in found if each != built_image) or f"`{built_image}`"
    return f"{EXAMPLE_ACCOUNT} is the account of examples; replace it with yours in the spec: {names}"


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _texts(each)
