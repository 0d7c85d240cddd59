"""Training jobs inside of definitions: templates, pipelines, and state machines, whose values are known in part.

A value that is known only when the definition is used is a mark (`smspec.importer.marks`) until the spec is written.
"""
