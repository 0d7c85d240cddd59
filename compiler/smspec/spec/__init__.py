"""The job spec: parsing files, merging them, checking the result, and decoding it to values.

`yaml` parses a file, `layers` merges several files into one spec, `schema` and `shape` check it against the JSON
Schema, and `decoding` converts it to the values of `model`. `keys` is the table of keys, which all of them use.

Texts go in and a `JobSpec` comes out. In between is a `Document`, whose values keep their positions, so that errors are
shown at their lines; a `JobSpec` has none. Code that reads, sends, imports, compares, or explains keys uses the rows of
the table, so that a new key is mostly a new row.

The package must not know requests or plans. It reads the JSON Schema and no file of a user: the caller passes texts.
"""
