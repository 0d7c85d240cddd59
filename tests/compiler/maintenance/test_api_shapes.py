"""The pinned shapes are generated from botocore and checked for changes."""

import importlib.metadata
import json
import subprocess
import sys
import warnings

import pytest

from maintenance.api_shapes import COMMAND, drift, installed_text, main, refreshed_text
from smspec.service.facts.installed_packages import ROOT, pinned_text
from smspec.service.shapes import decode_model, pinned_model
from smspec_schemas import API_SHAPES


def version_of(text):
    return tuple(int(part) for part in text.split(".")[:3])


INSTALLED = importlib.metadata.version("botocore")
PINNED = pinned_model().botocore


@pytest.mark.skipif(
    version_of(INSTALLED) < version_of(PINNED),
    reason=f"botocore {INSTALLED} is installed, older than the pinned {PINNED}",
)
def test_pinned_shapes_equal_the_api():
    """Additions of a newer botocore are reported; removals and stricter limits fail the test."""
    found = drift(pinned_model(), decode_model(installed_text("")))
    told = f"botocore {INSTALLED} has moved away from the pinned {PINNED}; run `{COMMAND}`:"
    assert not found.narrowed, "\n".join((told, *found.narrowed))
    if INSTALLED == PINNED:
        assert not found.widened, "\n".join((told, *found.widened))
    elif found.widened:
        warnings.warn("\n".join((told, *found.widened)), stacklevel=1)


@pytest.mark.skipif(INSTALLED != PINNED, reason=f"botocore {INSTALLED} is installed, {PINNED} is pinned")
def test_pinning_is_reproducible():
    with open(API_SHAPES, encoding="utf-8") as file:
        text = file.read()
    assert refreshed_text(text, "1999-12-31") == text
    assert main(["--check"]) == 0


def test_pinning_does_not_import_botocore():
    program = (
        "import sys; from maintenance.api_shapes import installed_text; installed_text('2026-01-01');"
        "sys.exit('botocore' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


def made_of(shapes):
    """Return the pinned text of a small service model, in which the request has the given members."""
    return pinned_text({"shapes": shapes}, version="9.9.9", date="2026-01-01")


BEFORE = {
    ROOT: {
        "type": "structure",
        "required": ["Name"],
        "members": {"Name": {"shape": "Name", "documentation": "<p>prose</p>"}, "Count": {"shape": "Count"}},
        "documentation": "<p>prose</p>",
    },
    "Name": {"type": "string", "max": 63, "pattern": "[a-z]+", "documentation": "<p>prose</p>"},
    "Count": {"type": "integer", "min": 1, "box": True},
    "Unreached": {"type": "string"},
}


def test_only_needed_shapes_are_pinned():
    data = json.loads(made_of(BEFORE))
    assert data["shapes"] == {
        "Count": {"type": "integer", "min": 1},
        ROOT: {"type": "structure", "required": ["Name"], "members": {"Name": "Name", "Count": "Count"}},
        "Name": {"type": "string", "max": 63, "pattern": "[a-z]+"},
    }
    assert list(data["shapes"]) == sorted(data["shapes"])
    assert list(data["shapes"][ROOT]["members"]) == ["Name", "Count"]


def changed(**shapes):
    return BEFORE | shapes


@pytest.mark.parametrize(
    ("after", "widened", "narrowed"),
    [
        (BEFORE, (), ()),
        (changed(Name={"type": "string", "max": 70, "pattern": "[a-z]+"}), ("Name: maximum was 63 and is 70",), ()),
        (changed(Name={"type": "string", "max": 60, "pattern": "[a-z]+"}), (), ("Name: maximum was 63 and is 60",)),
        (changed(Name={"type": "string", "max": 63}), ("Name has another pattern",), ()),
        (changed(Name={"type": "string", "max": 63, "pattern": "[a-y]+"}), (), ("Name has another pattern",)),
        (changed(Count={"type": "integer"}), ("Count: minimum was 1 and is None",), ()),
        (changed(Count={"type": "integer", "min": 2}), (), ("Count: minimum was 1 and is 2",)),
        (changed(Count={"type": "string", "min": 1}), (), ("Count was a integer and is a string",)),
        (
            changed(Count={"type": "integer", "min": 1, "enum": ["a"]}),
            (),
            ("Count takes 1 values only",),
        ),
        (
            changed(**{ROOT: {"type": "structure", "required": ["Name"], "members": {"Name": {"shape": "Name"}}}}),
            (),
            ("Count is gone",),
        ),
        (
            changed(
                **{
                    ROOT: {
                        "type": "structure",
                        "required": ["Count"],
                        "members": {
                            "Name": {"shape": "Name"},
                            "Count": {"shape": "Count"},
                            "Other": {"shape": "Count"},
                        },
                    }
                }
            ),
            ("the request requires Name no longer", "Other is new"),
            ("the request requires Count",),
        ),
    ],
)
def test_drift_separates_wider_from_narrower(after, widened, narrowed):
    found = drift(decode_model(made_of(BEFORE)), decode_model(made_of(after)))
    assert (found.widened, found.narrowed) == (widened, narrowed)
