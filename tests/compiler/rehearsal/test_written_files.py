"""The files that a job wrote, and those of another run that correspond to them."""

from __future__ import annotations

import pytest

from smspec.rehearsal.promises.surroundings import WrittenFiles


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("model-1205.json", "model-1207.json"),
        ("best.json", "best.json"),
        ("step-3.bin", None),
        ("part-1.bin", "part-1.bin"),
        ("part-3.bin", None),
    ],
)
def test_counterpart_differs_in_its_numbers_alone(tmp_path, name, found):
    for each in ("model-1207.json", "best.json", "part-1.bin", "part-2.bin"):
        (tmp_path / each).write_bytes(b"x")
    assert WrittenFiles.of(str(tmp_path)).counterpart(name) == found
