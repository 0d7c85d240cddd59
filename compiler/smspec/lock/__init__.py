"""Make the lock of a repository: digests of images, and hashes of the packages in them.

A `Lock` (`smspec.spec.lock`) is what smspec.lock contains. `to_ask` decides which images need an answer of a registry,
`locked` adds the answers to what is already pinned, and `environments` resolves the packages of an image to files with
hashes. What is pinned stays as it is unless the user asks for an update.

To make a lock needs the network; to read, check, and apply one does not, and is in `smspec.organization` and below, so
`build` with a lock never imports this package. It uses `smspec.wire` and `smspec.registry` and opens no connection
itself. Why packages cannot be resolved is a finding for the author.
"""
