"""What a job needs outside of this machine before it starts: its image, built and pushed to a registry.

`publish` takes a `JobImage` for each job and returns a `PublishedImage` with its digest: it looks for the tag in the
registry, creates the repository, builds, pushes, and reads the image back. A tag that exists is not built again,
because it is the digest of the content.

An engine builds the image (the client is that of `smspec run`), or `assembled` makes the same image without one, from
the layers of the base and the generated files. Only `private_login` gives the password of a registry to a client.

The package must not decide what is in an image: the plan and the tree do. It opens no connection itself.
"""
