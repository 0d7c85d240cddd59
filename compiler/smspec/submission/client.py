"""The client of SageMaker, and its faults as sentences."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    NoCredentialsError,
    NoRegionError,
    ParamValidationError,
    ProfileNotFound,
)

from smspec.diagnostics.foreign_words import continued
from smspec.submission.faults import AwsUnavailable, JobRefused


def sagemaker_client(profile: str | None, region: str | None) -> Any:
    """Return a client made as the AWS command makes its own; an option wins over environment and profile."""
    with told("SageMaker"):
        session = boto3.Session(profile_name=profile, region_name=region)
        config = Config(retries={"mode": "standard", "max_attempts": 5}, connect_timeout=10, read_timeout=60)
        return session.client("sagemaker", config=config)


@contextmanager
def told(what: str) -> Iterator[None]:
    """Turn what boto3 raises while it asks for ``what`` into `JobRefused` or `AwsUnavailable`."""
    try:
        yield
    except NoRegionError:
        raise AwsUnavailable(f"no region is known to ask for {what} in; use `--region` or set AWS_REGION") from None
    except NoCredentialsError:
        raise AwsUnavailable(
            f"there are no AWS credentials to ask for {what} with; set AWS_PROFILE or log in with `aws`"
        ) from None
    except ProfileNotFound as fault:
        raise AwsUnavailable(f"no such AWS profile: {_sentence(fault)}") from None
    except ParamValidationError as fault:
        raise JobRefused(f"{what}: {_sentence(fault)}") from None
    except ClientError as fault:
        error = fault.response.get("Error", {})
        code, message = str(error.get("Code", "")), _sentence(error.get("Message", ""))
        if code in ("ValidationException", "ResourceNotFound"):
            raise JobRefused(f"{what}: {message}") from None
        raise AwsUnavailable(f"AWS does not let us ask for {what}: {code}: {message}") from None
    except BotoCoreError as fault:
        raise AwsUnavailable(f"cannot ask AWS for {what}: {_sentence(fault)}") from None


def _sentence(fault: object) -> str:
    return continued(str(fault)) or "no reason was given"
