"""Import jobs from notebooks and programs that use the SageMaker Python SDK. They are read, and never run.

`notebook` reads cells, `evaluation` and `statements` follow them as far as values are known, `requests` makes the
request of each job that the SDK would start, and `sdk_job` what a spec needs for it.
"""
