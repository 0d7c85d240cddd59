"""Read and write repositories of image registries: tags, manifests, configs, and layers.

An `ImageRepository` is one repository, through a `Session` that follows the registry's challenge for a token. Every
response is verified: the digest of a `Manifest` or a `Blob` is that of the bytes that were received. An `ImageUpload`
puts a blob or a manifest there.

Registries are strangers: connections, deadlines, and sizes are those of `smspec.wire`, and an answer that is not what
the distribution API defines is a fault with one sentence. Credentials go to the registry that they are for, and to no
other host. The package does not know jobs or locks, and never calls AWS.
"""
