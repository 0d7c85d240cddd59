"""The JSON Schema of the spec: loading it, querying it, and explaining it."""
