"""Talking to SageMaker: the only floor, beside the S3 side of a local run, that loads boto3."""
