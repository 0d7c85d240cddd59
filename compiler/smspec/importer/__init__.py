"""Convert existing jobs to specs: a request in any of its formats becomes a spec that renders it.

`sources` reads the formats, `parts` writes the keys of the spec, and what no part imports goes to ``api``. Between them
are `UnmappedMembers`: the members of the request that no key has expressed yet. A part takes from it only what its keys
express exactly, so no member is lost or changed. An `Imported` is the result, `write_spec` its text.

A value that only a deployment or a run knows is a mark in the request until the spec is written, where it refers to a
declared variable. Programs and definitions are read as data and never run.

The package must not call AWS or decide whether the job is right: `smspec.cli` fetches what is imported by name, then
compiles the spec like any other and compares the two requests.
"""
