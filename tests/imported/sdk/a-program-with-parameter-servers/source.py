"""Train with parameter servers, for which the SDK turns its debugger off, from a repository of git."""

from sagemaker.tensorflow import TensorFlow

estimator = TensorFlow(
    entry_point="train.py",
    source_dir="src",
    dependencies=["../shared"],
    git_config={"repo": "https://github.com/example/training.git", "branch": "main"},
    role="arn:aws:iam::111122223333:role/SageMakerTraining",
    framework_version="2.14",
    py_version="py310",
    instance_type="ml.m5.xlarge",
    instance_count=2,
    distribution={"parameter_server": {"enabled": True}},
    output_path="s3://example-models/",
)
estimator.fit({"train": "s3://example-data/train/"})
