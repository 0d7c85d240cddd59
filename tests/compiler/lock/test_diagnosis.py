"""Which package uv found no wheel of, in what it prints."""

from __future__ import annotations

import pytest

from smspec.lock.diagnosis import conflict, package_without_wheel
from smspec.service.requirement_lines import Requirement


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


def requirement(line: int, name: str, specifier: str = "") -> tuple[Requirement, bool]:
    return Requirement(name=name, specifier=specifier, url="", text=f"{name}{specifier}", place=(line, 1)), True


REQUIRED = [
    requirement(2, "torch", "==2.5.1"),
    requirement(3, "numpy", "<1"),
    requirement(4, "pandas"),
    requirement(5, "cpu"),
]
CAUSE = "Because pandas depends on numpy>=1 and you require numpy<1, we can conclude that pandas cannot be used.\n"
CLOSING = "And because you require pandas, we can conclude that your requirements are unsatisfiable.\n"


@pytest.mark.parametrize(
    "text",
    [
        CAUSE + CLOSING,
        f"{CAUSE}{CLOSING}\nhint: An index (https://download.pytorch.org/whl/cpu) returned a 403 Forbidden error.",
        f"{CAUSE}{CLOSING}\nhint: `torch` was found on https://a.example/whl/cpu, but not at the requested version",
        f"Because torch==2.5.1 depends on numpy and {CAUSE}{CLOSING}",
    ],
)
def test_conflict_has_a_line_next_to_hints_of_a_second_index(text: str) -> None:
    (found,) = conflict(REQUIRED, text)
    assert found.requirement.place[0] == 4
    assert found.with_ is not None and found.with_.place[0] in (2, 3)
