"""From the bytes of a file to a tree that knows its places: YAML 1.2, guarded, and nothing that surprises."""
