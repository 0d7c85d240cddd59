"""The JSON Schema of the spec: loading it, querying it, and explaining it.

The schema is a file of `smspec_schemas`, and editors use the same one. `accepts` decides whether a value fits, without
jsonschema, whose import takes longer than a whole check; it is loaded only for keywords that `acceptance` does not
interpret. `explain_key` and docs/spec-reference.md use the descriptions. Why a value does not fit is found by
`smspec.spec.shape`, and the package must not know it.
"""
