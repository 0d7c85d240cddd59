"""Entry point of the shape checks, rules SM2xx: does a merged document have the shape of a job, and if not, why."""

from __future__ import annotations

from smspec.diagnostics import Finding
from smspec.source import Document
from smspec.spec.schema.acceptance import accepts
from smspec.spec.schema.job_schema import merged_schema
from smspec.spec.shape.plain_data import viewed


def shape_findings(document: Document, data: object = None) -> list[Finding]:
    """Return every mismatch between a merged document, with its short forms expanded, and the schema."""
    data = viewed(document.root) if data is None else data
    schema = merged_schema()
    if accepts(schema, data, schema):
        return []
    # Imported late: a valid spec does not need it.
    from smspec.spec.shape.schema_errors import describe

    findings = describe(document, data)
    if not findings:
        # Without a finding for a fault, an invalid spec would be built (tests/compiler/spec/shape/test_agreement.py).
        raise RuntimeError("the schema refuses this spec, and no error is reported for it")
    return findings
