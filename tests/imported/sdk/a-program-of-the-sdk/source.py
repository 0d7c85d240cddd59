import sagemaker
from sagemaker import image_uris
from sagemaker.estimator import Estimator
from sagemaker.inputs import TrainingInput

session = sagemaker.Session()
region = session.boto_region_name
image = image_uris.retrieve("xgboost", region, "1.7-1")


def train(depth, rounds=100):
    model = Estimator(
        image,
        "arn:aws:iam::111122223333:role/SageMakerTraining",
        instance_count=1,
        instance_type="ml.m5.xlarge",
        volume_size=50,
        output_path="s3://example-models/prices/",
        hyperparameters={"max_depth": depth, "num_round": rounds},
        subnets=["subnet-0aa0aa0aa0aa0aa00"],
        security_group_ids=["sg-0bb0bb0bb0bb0bb00"],
    )
    model.set_hyperparameters(objective="reg:squarederror", eta=read_rate())
    model.fit({"train": TrainingInput("s3://example-data/prices/", content_type="text/csv")})
    return model


if __name__ == "__main__":
    train(5)
