"""The JSON Schema of the spec: reading it, asking it, and telling people what it says."""
