"""The data that the compiler carries: the JSON Schema of the job spec and the API shapes pinned from botocore."""

import os

JOB_SCHEMA = os.path.join(os.path.dirname(__file__), "job.v1.schema.json")
API_SHAPES = os.path.join(os.path.dirname(__file__), "create_training_job.json")
