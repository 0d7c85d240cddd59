"""Make the lock of a repository: digests of images, and hashes of the packages in them.

A `Lock` (`smspec.spec.lock`) is what smspec.lock contains. `to_ask` decides which images need an answer of a registry,
`locked` adds the answers to what is already pinned. `lock_environment` answers a `Question`, the requirements of one
image, with a `NewEnvironment`: uv chooses files with hashes, and what scripts can import is read from the lists of
files in wheels. What cannot be resolved is explained to the author at the line of the requirement. What is pinned stays
as it is unless the user asks for an update.

To make a lock needs the network; to read, check, and apply one does not, and is in `smspec.organization` and below, so
`build` with a lock never imports this package. It uses `smspec.wire` and `smspec.registry` and opens no connection
itself. It installs nothing, and no package runs code unless the user allows builds.
"""
