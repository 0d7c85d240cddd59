"""Import jobs from notebooks and programs that use the SageMaker Python SDK, or boto3. They are read, and never run.

`notebook` reads cells, and `following` follows them with `script.follow` as far as values are known: `values` are those
of a program that starts jobs, and `sdk_domain` says what stands for those that only a run has. `requests` makes the
request of each job that the SDK would start, `call_requests` that of a call of boto3, and `sdk_job` what a spec needs
for it.
"""
