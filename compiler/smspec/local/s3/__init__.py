"""S3 as a source of local runs. The only part of `local` that knows boto3; it is imported when such a channel is.

The feeder itself needs the standard library only. For channels in S3 `program` starts the same feeder, here on this
machine with our own Python, and gives it a store that fetches objects.
"""
