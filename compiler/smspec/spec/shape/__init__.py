"""Check whether a merged document has the shape of a job, and explain where it does not.

`shape_findings` returns findings SM2. `accepts` of `smspec.spec.schema` alone decides what fits; `shape_faults` follows
a value that does not down to its smallest wrong parts, and each of them becomes a finding with its most likely repair:
the nearest key, the smspec key for a key of another tool, or the unit that is missing. Faults are independent: one
mistake is one finding.
"""
