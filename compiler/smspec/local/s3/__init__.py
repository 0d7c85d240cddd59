"""S3 as a source of local runs: the only part of `local` that uses boto3, imported for such channels.

The feeder itself needs only the standard library. For channels in S3, `program` starts the same feeder on this machine
with the Python of smspec, with a store that downloads objects.

boto3 renews the user's credentials, which are never in a plan or a container. Signed URLs would expire.
"""
