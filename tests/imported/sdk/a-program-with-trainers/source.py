from sagemaker.core.shapes import RetryStrategy, S3DataSource
from sagemaker.core.training.configs import (
    CheckpointConfig,
    Compute,
    InputData,
    Networking,
    OutputDataConfig,
    SourceCode,
    StoppingCondition,
    Tag,
)
from sagemaker.train import ModelTrainer
from sagemaker.train.distributed import Torchrun

role = "arn:aws:iam::111122223333:role/SageMakerTraining"
image = "763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:2.3.0-gpu-py311"

plain = ModelTrainer(training_image=image, role=role, base_job_name="plain")
plain.train(input_data_config=[InputData(channel_name="train", data_source="s3://example-data/train/")])

hyperparameters = {"epochs": 5, "lr": 1e-3, "name": "resnet", "fast": True, "layers": [256, 64]}
hyperparameters.update(seed=1)
trainer = ModelTrainer(
    training_image=image,
    role=role,
    base_job_name="churn",
    source_code=SourceCode(source_dir="src", entry_script="train.py", requirements="requirements.txt"),
    distributed=Torchrun(process_count_per_node=8),
    compute=Compute(
        instance_type="ml.p4d.24xlarge",
        instance_count=2,
        volume_size_in_gb=100,
        keep_alive_period_in_seconds=600,
    ),
    networking=Networking(
        subnets=["subnet-0aa0aa0aa0aa0aa00"],
        security_group_ids=["sg-0bb0bb0bb0bb0bb00"],
        enable_inter_container_traffic_encryption=True,
    ),
    stopping_condition=StoppingCondition(max_runtime_in_seconds=7200),
    output_data_config=OutputDataConfig(s3_output_path="s3://example-models/churn/"),
    checkpoint_config=CheckpointConfig(s3_uri="s3://example-models/churn/checkpoints/"),
    hyperparameters=hyperparameters,
    environment={"NCCL_DEBUG": "WARN"},
    tags=[Tag(key="team", value="growth")],
    input_data_config=[InputData(channel_name="train", data_source="s3://example-data/train/")],
).with_retry_strategy(RetryStrategy(maximum_retry_attempts=3))
validation = S3DataSource(
    s3_data_type="S3Prefix",
    s3_uri="s3://example-data/validation/",
    s3_data_distribution_type="ShardedByS3Key",
)
trainer.train(
    input_data_config=[
        InputData(channel_name="validation", data_source=validation, content_type="text/csv"),
        InputData(channel_name="train", data_source="s3://example-data/other/"),
    ],
    wait=False,
)
