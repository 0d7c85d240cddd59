"""Keys of a job spec, and the members of the request that each becomes."""

from support.spec.job_samples import IMAGE_URI as URI

KEYS = [
    (
        {"spot": {"max_wait": "8h"}, "stopping": {"max_runtime": "6h", "max_pending": "2h"}},
        {
            "EnableManagedSpotTraining": True,
            "StoppingCondition": {
                "MaxRuntimeInSeconds": 21600,
                "MaxWaitTimeInSeconds": 28800,
                "MaxPendingTimeInSeconds": 7200,
            },
        },
    ),
    (
        {"spot": {"max_wait": "30h"}},
        {"StoppingCondition": {"MaxRuntimeInSeconds": 86400, "MaxWaitTimeInSeconds": 108000}},
    ),
    ({"retries": 2}, {"RetryStrategy": {"MaximumRetryAttempts": 2}}),
    (
        {"output": {"s3": "s3://x/y", "kms_key": "alias/mine", "compression": "NONE"}},
        {"OutputDataConfig": {"KmsKeyId": "alias/mine", "S3OutputPath": "s3://x/y", "CompressionType": "NONE"}},
    ),
    ({"checkpoints": "s3://x/c/"}, {"CheckpointConfig": {"S3Uri": "s3://x/c/"}}),
    (
        {"checkpoints": {"s3": "s3://x/c/", "local": "/opt/ml/mine"}},
        {"CheckpointConfig": {"S3Uri": "s3://x/c/", "LocalPath": "/opt/ml/mine"}},
    ),
    ({"tensorboard": "s3://x/t/"}, {"TensorBoardOutputConfig": {"S3OutputPath": "s3://x/t/"}}),
    (
        {
            "network": {
                "subnets": ["subnet-1"],
                "security_groups": ["sg-1"],
                "isolation": False,
                "encrypt_inter_container": True,
            }
        },
        {
            "VpcConfig": {"SecurityGroupIds": ["sg-1"], "Subnets": ["subnet-1"]},
            "EnableNetworkIsolation": False,
            "EnableInterContainerTrafficEncryption": True,
        },
    ),
    (
        {"tags": {"team": "ads", "cost-center": "0042"}},
        {"Tags": [{"Key": "team", "Value": "ads"}, {"Key": "cost-center", "Value": "0042"}]},
    ),
    ({"environment": {"NCCL_DEBUG": "WARN"}}, {"Environment": {"NCCL_DEBUG": "WARN"}}),
    (
        {"metrics": [{"name": "loss", "regex": "loss=(.*)"}], "input_mode": "Pipe"},
        {
            "AlgorithmSpecification": {
                "TrainingImage": URI,
                "TrainingInputMode": "Pipe",
                "MetricDefinitions": [{"Name": "loss", "Regex": "loss=(.*)"}],
            }
        },
    ),
    (
        {
            "hosts": {
                "instance_type": "ml.c5.9xlarge",
                "count": 4,
                "volume": "50GB",
                "volume_kms_key": "key",
                "keep_alive": "30m",
                "training_plan": "arn:aws:sagemaker:us-west-2:111122223333:training-plan/p",
            }
        },
        {
            "ResourceConfig": {
                "InstanceType": "ml.c5.9xlarge",
                "InstanceCount": 4,
                "VolumeSizeInGB": 50,
                "VolumeKmsKeyId": "key",
                "KeepAlivePeriodInSeconds": 1800,
                "TrainingPlanArn": "arn:aws:sagemaker:us-west-2:111122223333:training-plan/p",
            }
        },
    ),
    (
        {"hosts": {"groups": [{"name": "w", "instance_type": "ml.m5.large", "count": 2}]}},
        {
            "ResourceConfig": {
                "InstanceGroups": [{"InstanceType": "ml.m5.large", "InstanceCount": 2, "InstanceGroupName": "w"}]
            }
        },
    ),
    (
        {
            "channels": {
                "val": {
                    "s3": "s3://x/m.manifest",
                    "s3_data_type": "AugmentedManifestFile",
                    "attributes": ["a", "b"],
                    "distribution": "ShardedByS3Key",
                    "input_mode": "Pipe",
                    "content_type": "text/csv",
                    "compression": "Gzip",
                    "record_wrapper": "RecordIO",
                    "shuffle_seed": 17,
                },
            }
        },
        {
            "InputDataConfig": [
                {
                    "ChannelName": "val",
                    "DataSource": {
                        "S3DataSource": {
                            "S3DataType": "AugmentedManifestFile",
                            "S3Uri": "s3://x/m.manifest",
                            "S3DataDistributionType": "ShardedByS3Key",
                            "AttributeNames": ["a", "b"],
                        }
                    },
                    "ContentType": "text/csv",
                    "CompressionType": "Gzip",
                    "RecordWrapperType": "RecordIO",
                    "InputMode": "Pipe",
                    "ShuffleConfig": {"Seed": 17},
                }
            ]
        },
    ),
    (
        {
            "channels": {
                "files": {"file_system": {"id": "fs-01234567", "type": "EFS", "path": "/data", "access": "ro"}},
            }
        },
        {
            "InputDataConfig": [
                {
                    "ChannelName": "files",
                    "DataSource": {
                        "FileSystemDataSource": {
                            "FileSystemId": "fs-01234567",
                            "FileSystemAccessMode": "ro",
                            "FileSystemType": "EFS",
                            "DirectoryPath": "/data",
                        }
                    },
                }
            ]
        },
    ),
]
