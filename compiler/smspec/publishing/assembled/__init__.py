"""Images that smspec makes without an engine: the layers of the base, and those of the generated files.

`assembled` returns an `AssembledImage`, a value: manifest, config, and layers. It is pushed to a registry, or written
to an archive that ``docker load`` reads. The same job and base give the same digest. What only an engine can do, such
as a command in the base, is an obstacle with the key that asks for it, before anything is downloaded or sent.
"""
