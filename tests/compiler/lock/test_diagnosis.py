"""Which package uv found no wheel of, in what it prints."""

from __future__ import annotations

import pytest

from smspec.lock.diagnosis import package_without_wheel


@pytest.mark.parametrize(
    "text",
    [
        "Because tokenizers==0.8.1rc2 has no usable wheels and transformers==3.3.1 depends on tokenizers==0.8.1rc2, we",
        "Because all versions of tokenizers have no usable wheels and transformers depends on tokenizers, we can",
        "Because all of:\n    tokenizers<=0.10.3\n    tokenizers>=0.11\n  have no usable wheels and transformers",
        "Because tokenizers>=2,<3 has no wheels with a matching Python ABI tag (e.g., `cp312`) and transformers",
    ],
)
def test_package_without_a_wheel_is_found(text: str) -> None:
    assert package_without_wheel(text) == "tokenizers"


def test_other_text_names_no_package() -> None:
    assert package_without_wheel("Because you require numpy==1 and pandas depends on numpy>=2, we can conclude") == ""
