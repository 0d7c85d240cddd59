"""Fetches the author's code from S3, with the boto3 of the image."""

from .aws import open_client, service_errors
from .input_config import InputConfig
from .lean_typing import Mapping, Tuple, Type
from .log import log
from .refusal import Refused

_CHUNK = 1 << 20


def fetch(uri: str, path: str, config: InputConfig, environ: Mapping[str, str]) -> None:
    """Write an object to a file. Raises Refused if it cannot be had."""
    bucket, _, key = uri[len("s3://") :].partition("/")
    if not bucket or not key:
        raise Refused(f"sagemaker_submit_directory: {uri} names no object")
    client = open_client(
        "s3",
        f"the code lies in {uri}",
        region_name=environ.get("AWS_REGION") or config.hyperparameters.sagemaker.get("sagemaker_region"),
        endpoint_url=environ.get("S3_ENDPOINT_URL"),
    )
    errors: Tuple[Type[Exception], ...] = (OSError, *service_errors())
    try:
        answer = client.get_object(Bucket=bucket, Key=key)
        with open(path, "xb") as file:
            for chunk in answer["Body"].iter_chunks(_CHUNK):
                file.write(chunk)
            size = file.tell()
    except errors as error:
        raise Refused(f"cannot fetch {uri}: {error}") from error
    if size != answer["ContentLength"]:
        raise Refused(f"cannot fetch {uri}: {size} of {answer['ContentLength']} bytes came")
    log(f"fetched {uri} ({size} bytes)")
