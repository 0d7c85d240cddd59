"""All faults of one kind in a source are one finding: the first few are named, the rest are counted."""

import pytest

from smspec.pipeline.named_files import source_findings
from smspec.workspace.source_listing import ScannedSource
from smspec.workspace.source_walk import SourceFault


@pytest.mark.parametrize(
    ("count", "more", "notes"),
    [
        (1, "", []),
        (5, " (and 4 more)", ["1", "2", "3", "4"]),
        (6, " (and 5 more)", ["1", "2", "3", "4", "1 more"]),
        (9, " (and 8 more)", ["1", "2", "3", "4", "4 more"]),
    ],
)
def test_faults_of_one_kind_are_one_finding(count, more, notes):
    faults = tuple(SourceFault("nowhere", str(number), "gone") for number in range(count))
    [finding] = source_findings(ScannedSource(faults=faults), "src/")
    assert finding.message == f"`0` links to `gone`, which does not exist{more}"
    told = [f"`{note}` links to `gone`, which does not exist" if len(note) == 1 else note for note in notes]
    assert [note.message for note in finding.notes] == told
