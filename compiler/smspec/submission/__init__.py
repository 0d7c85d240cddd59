"""Calls to AWS for jobs: create, find, follow, and stop them, and ask what they need before.

A `TrainingJob` is a job as SageMaker describes it. `create_job` creates one from a request, or continues with the one
that has the same name if it is the same job. A `JobService` has the calls for jobs that exist, an `S3Store` those for
data, and `preflight` asks for everything that only AWS knows before something is created.

boto3 is loaded when the first call needs it, and its connections are those of `smspec.wire`. What AWS rejects is an
exception with one sentence.

The package must not know specs or plans: it gets requests, and whether a job is right was decided before.
"""
