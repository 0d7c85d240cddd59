"""The values that matter for calls of AWS: texts, names of other modules, functions, and objects of the AWS SDK."""

from __future__ import annotations

import ast
from typing import Union

from smspec.source.frozen import dataclass, replace


@dataclass(frozen=True, slots=True)
class Text:
    """A text; `GAP` stands for each unknown part."""

    text: str


@dataclass(frozen=True, slots=True)
class Foreign:
    """Something of another module, by its full name."""

    name: str


@dataclass(frozen=True, slots=True)
class Local:
    """A function of the script, with its own scope. ``is_method``: its first parameter is the instance."""

    node: ast.FunctionDef
    scope: object
    is_method: bool = False


@dataclass(frozen=True, slots=True)
class AwsObject:
    """A client, a resource, or what one returns. ``given`` are the parameters that identify it.

    ``credentials``: why it does not use those of the job at AWS; empty if it does.
    """

    kind: str
    given: tuple[tuple[str, str], ...] = ()
    region: str = ""
    credentials: str = ""

    def below(self, kind: str, given: tuple[tuple[str, str], ...] = ()) -> AwsObject:
        """Return an object that this one makes."""
        return replace(self, kind=kind, given=(*self.given, *given))


@dataclass(frozen=True, slots=True)
class AwsMethod:
    """A method of an object of the AWS SDK that is not called where it is named."""

    owner: AwsObject
    name: str


Meaning = Union[Text, Foreign, Local, AwsObject, AwsMethod]

CLIENT_MAKERS = {"boto3.client": False, "boto3.resource": True}
SESSION = "session"
_SESSIONS = frozenset({"boto3.Session", "boto3.session.Session"})
_OTHER_MAKERS = {
    "sagemaker.Session": "sagemaker.Session",
    "sagemaker.session.Session": "sagemaker.Session",
    "s3fs.S3FileSystem": "s3fs",
    "s3fs.core.S3FileSystem": "s3fs",
    "fsspec.filesystem": "s3fs",
}
RESOURCE = ":resource"
"""The end of the kind of a resource, which makes objects and calls nothing itself."""

PARTS: dict[tuple[str, str], tuple[str, dict[str, str]]] = {
    ("s3:resource", "Bucket"): ("s3.Bucket", {"Bucket": "name"}),
    ("s3:resource", "Object"): ("s3.Object", {"Bucket": "bucket_name", "Key": "key"}),
    ("s3:resource", "ObjectSummary"): ("s3.Object", {"Bucket": "bucket_name", "Key": "key"}),
    ("s3.Bucket", "Object"): ("s3.Object", {"Key": "key"}),
    ("dynamodb:resource", "Table"): ("dynamodb.Table", {"TableName": "name"}),
    ("sqs:resource", "Queue"): ("sqs.Queue", {"QueueUrl": "url"}),
    ("sns:resource", "Topic"): ("sns.Topic", {"TopicArn": "arn"}),
}
"""Methods that make an object and call nothing: its kind, and what identifies it, in order, with their own names."""

ATTRIBUTES = {("s3.Bucket", "objects"): "s3.Bucket.objects"}
"""Attributes that are objects themselves."""

_LAZY = frozenset({"can_paginate", "close", "exceptions", "meta", "waiter_names"})
"""Names of clients and resources that call nothing."""


def maker_of(name: str) -> str | None:
    """Return the kind of object that a function of another module makes; None if it makes no known one."""
    return SESSION if name in _SESSIONS else _OTHER_MAKERS.get(name)


def calls_nothing(method: str) -> bool:
    return method in _LAZY
