"""Least-privilege IAM policies for a job and for its submitter, made from the request."""
