"""Calls to SageMaker: the only package, besides the S3 side of a local run, that loads boto3."""
