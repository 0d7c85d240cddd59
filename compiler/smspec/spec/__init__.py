"""The job spec: from texts to one merged tree, from the tree to values, and what is wrong on the way.

`yaml` reads a text, `layers` makes one spec of several files, `schema` and `shape` hold it against the JSON Schema,
`decoding` makes the values of `model` of it.
"""
