"""The Python packages of an image that is made without an engine: wheels, unpacked as pip installs them.

`package_files` returns the files of a layer. A `BaseListing` shows what the layers of the base contain, a `BasePython`
where its Python looks for packages, and each `Wheel` is checked against its hash and its RECORD first. An older version
of a package in the base is removed as pip does it. No code of a package runs, and no Python of the base is started.
"""
