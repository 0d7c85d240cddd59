"""The boto3 of the image, where it has one. The runtime itself needs none."""

import importlib

from .lean_typing import Any, Tuple, Type
from .refusal import Refused


def open_client(service: str, purpose: str, **options: Any) -> Any:
    """Return a client of an AWS service. Raises Refused, saying what it was for, when the image has no boto3."""
    try:
        # By name: checkers must not think that the runtime depends on it.
        boto3 = importlib.import_module("boto3")
    except ImportError as error:
        raise Refused(f"{purpose}, but the image has no boto3: install it there") from error
    return boto3.client(service, **options)


def service_errors() -> Tuple[Type[Exception], ...]:
    """Return what a client raises. To be asked once there is a client."""
    exceptions = importlib.import_module("botocore.exceptions")
    return (exceptions.BotoCoreError, exceptions.ClientError, importlib.import_module("boto3.exceptions").Boto3Error)
