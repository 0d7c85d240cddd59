"""Jobs that were not written for smspec, taken in: a request in any of its forms becomes a spec that renders it.

`sources` reads the forms, `parts` writes the keys of the spec, and what no part takes goes to `api`.
"""
