resource "aws_sagemaker_training_job" "ctr-linear" {
  region            = "cn-north-1"
  training_job_name = "ctr-linear-<digest>"
  role_arn          = "arn:aws-cn:iam::111122223333:role/SageMakerTraining"

  hyper_parameters = {
    "sagemaker_program"          = "train.py"
    "sagemaker_submit_directory" = "s3://example-models/ctr/ctr-linear/source/<digest>/sourcedir.tar.gz"
    "sagemaker_smspec"           = "{\"source\":\"<digest>\"}"
  }

  algorithm_specification {
    training_image      = "111122223333.dkr.ecr.cn-north-1.amazonaws.com.cn/ctr-linear:<digest>"
    training_input_mode = "File"
  }

  input_data_config {
    channel_name = "train"

    data_source {
      s3_data_source {
        s3_data_type = "S3Prefix"
        s3_uri       = "s3://example-data/ctr/train/"
      }
    }
  }

  output_data_config {
    s3_output_path = "s3://example-models/ctr/"
  }

  resource_config {
    instance_type     = "ml.m5.large"
    instance_count    = 1
    volume_size_in_gb = 10
  }

  stopping_condition {
    max_runtime_in_seconds = 86400
  }
}
