"""The least that a job, and whoever submits it, must be allowed: policies of IAM, made from the request."""
