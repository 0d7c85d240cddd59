"""The job spec: parsing files, merging them, checking the result, and decoding it to values.

`yaml` parses a file, `layers` merges several files into one spec, `schema` and `shape` check it against the JSON
Schema, and `decoding` converts it to the values of `model`.
"""
