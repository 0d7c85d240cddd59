"""The result of a job that is over, in SageMaker or of a local run: checked, unpacked, and merged in one directory."""
