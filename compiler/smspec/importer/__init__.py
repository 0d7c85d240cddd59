"""Convert existing jobs to specs: a request in any of its formats becomes a spec that renders it.

`sources` reads the formats, `parts` writes the keys of the spec, and what no part imports goes to `api`.
"""
