"""Parse YAML 1.2 files into trees that keep positions, with limits on size and on surprising syntax.

`read` takes a `SourceText` and returns a `Document`, or raises all errors that do not follow from each other. PyYAML
only splits the text into events; what a plain word means is decided here, by YAML 1.2, so ``no`` is text. Tags,
directives, invisible characters, and documents that grow when they are read are rejected: a reviewer must see what a
spec contains. The package does not know the keys of a spec.
"""
