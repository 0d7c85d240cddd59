resource "aws_sagemaker_training_job" "ctr-linear" {
  region                                    = "us-west-2"
  training_job_name                         = "ctr-linear-<digest>"
  role_arn                                  = "arn:aws:iam::111122223333:role/SageMakerTraining"
  enable_inter_container_traffic_encryption = true
  enable_managed_spot_training              = true

  hyper_parameters = {
    "epochs" = "5"
    "lr"     = "1e-3"
    "layers" = "[256, 64]"
    "text"   = "$${HOME} %%{if} \"q\" \\"
  }

  algorithm_specification {
    training_image      = "111122223333.dkr.ecr.us-west-2.amazonaws.com/ctr:4d2af172e0"
    training_input_mode = "Pipe"
    container_arguments = ["--fast"]

    metric_definitions {
      name  = "train:loss"
      regex = "loss=([0-9.eE+-]+)"
    }
  }

  input_data_config {
    channel_name = "train"

    data_source {
      s3_data_source {
        s3_data_type              = "S3Prefix"
        s3_uri                    = "s3://example-data/ctr/train/"
        s3_data_distribution_type = "ShardedByS3Key"
      }
    }

    shuffle_config {
      seed = 17
    }
  }

  input_data_config {
    channel_name        = "labelled"
    record_wrapper_type = "RecordIO"

    data_source {
      s3_data_source {
        s3_data_type    = "AugmentedManifestFile"
        s3_uri          = "s3://example-labels/ctr/output.manifest"
        attribute_names = ["source-ref", "label"]
      }
    }
  }

  input_data_config {
    channel_name = "archive"
    input_mode   = "File"

    data_source {
      file_system_data_source {
        file_system_id          = "fs-0123456789abcdef0"
        file_system_access_mode = "ro"
        file_system_type        = "FSxLustre"
        directory_path          = "/data"
      }
    }
  }

  output_data_config {
    kms_key_id     = "alias/models"
    s3_output_path = "s3://example-models/ctr/"
  }

  resource_config {
    instance_type     = "ml.c5.9xlarge"
    instance_count    = 4
    volume_size_in_gb = 50
    volume_kms_key_id = "1234abcd-12ab-34cd-56ef-1234567890ab"
  }

  vpc_config {
    security_group_ids = ["sg-0bb1cc2dd"]
    subnets            = ["subnet-0aa1bb2cc"]
  }

  stopping_condition {
    max_runtime_in_seconds   = 21600
    max_wait_time_in_seconds = 28800
  }

  checkpoint_config {
    s3_uri = "s3://example-models/ctr/ckpt/"
  }

  tensor_board_output_config {
    s3_output_path = "s3://example-models/ctr/tb/"
  }

  environment = {
    "NCCL_DEBUG" = "WARN"
    "LINES"      = "one\ntwo"
  }

  retry_strategy {
    maximum_retry_attempts = 2
  }

  session_chaining_config {
    enable_session_tag_chaining = true
  }

  tags = {
    "team"        = "ads"
    "cost-center" = "0042"
  }
}
