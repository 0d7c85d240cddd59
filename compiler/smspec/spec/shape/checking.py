"""Whether a merged document has the shape of a job, and if not, why: the door to the checks of SM2."""

from __future__ import annotations

from smspec.diagnostics import Finding
from smspec.source import Document
from smspec.spec.schema.acceptance import accepts
from smspec.spec.schema.job_schema import merged_schema
from smspec.spec.shape.view import viewed


def shape_findings(document: Document) -> list[Finding]:
    """Return everything in which a merged document, its short forms expanded, is not a job of the schema."""
    data = viewed(document.root)
    schema = merged_schema()
    if accepts(schema, data, schema):
        return []
    # Late: a good spec does not need it.
    from smspec.spec.shape.schema_errors import told

    findings = told(document, data)
    if not findings:
        # What no finding is made of would be built (tests/compiler/spec/shape/test_agreement.py).
        raise RuntimeError("the schema refuses this spec, and no error is reported for it")
    return findings
