"""boto3 over smspec's own HTTP exchange: a response is complete, within limits, and well formed, or it is an error.

botocore emits an event before it sends a request; the return value of a handler replaces the response.

botocore limits neither the size nor the time of a whole response, and its parsers raise any exception.
"""

from __future__ import annotations

import copy
import functools
import io
import os
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import boto3
import botocore.session
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    CredentialRetrievalError,
    HTTPClientError,
    NoCredentialsError,
    NoRegionError,
    ParamValidationError,
    PartialCredentialsError,
    ProfileNotFound,
    SSOError,
    TokenRetrievalError,
)
from botocore.hooks import HierarchicalEmitter
from botocore.httpsession import get_cert_path
from botocore.loaders import Loader, create_loader
from botocore.parsers import ResponseParserError
from botocore.utils import CLIENT_NAME_TO_HYPHENIZED_SERVICE_ID_OVERRIDES

from smspec.diagnostics.quoting import continued, hide, without_credentials
from smspec.service.arns import is_at_own_port, is_of_another_partition, is_of_aws, region_of_endpoint
from smspec.wire.aws_shape import check_shape, check_xml
from smspec.wire.connections import Connections, Trust, trust_of_environment
from smspec.wire.credential_sources import hide_what_is_sent, limit_questions, require_profiles, require_settings
from smspec.wire.exchange import HttpRequest, HttpResponse, exchanged, parsed, shown_url
from smspec.wire.fault import BadResponse, ConnectionBroken, Deadline, WireFault
from smspec.wire.json_body import json_body

LARGEST = 6 << 20
"""Bytes of a metadata response: a list of 1,000 objects with keys of 1,024 bytes, each escaped."""

_ATTEMPTS = {"mode": "standard", "total_max_attempts": 5}
_EXACT = ("s3", "sagemaker", "logs", "batch")
_OF_JOBS = {"s3": "has other files", "logs": "has other logs", "batch": "waits in other queues"}
"""Services that are where SageMaker is, and what a job has there."""

_S3_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
_SIGNED = "The Canonical String for this request"
"""The rest of a message about a wrong signature has the headers of the request, and so the session token."""
_LOGIN = (CredentialRetrievalError, PartialCredentialsError, SSOError, TokenRetrievalError, ProfileNotFound)
# Raised by botocore's parsers for a response with a different shape than the model's.
_SHAPES = (
    ResponseParserError,
    SyntaxError,  # of the XML parser
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    ArithmeticError,
    RuntimeError,
)

_KEY = re.compile(r"[!-~]+")
"""A key or a token: they are sent as headers."""

_LONGEST = 20_000
"""Characters of a message that are read. Only the first few hundred are shown."""

_OF_URLS = re.compile(r"(https?://)(?:[^\s\"'`]*@)?([^\s?#\"'`]*)(?:\?[^\s\"'`]*)?")
"""The user and the query of a URL, which may contain a password."""

_CACHING = ("assume-role", "sso")
_ROLES: dict[str, Any] = {}
"""The credentials of roles in this process: each session would ask for them again, and a person for each code."""


class AwsRefused(WireFault):
    """AWS understood the request and rejects it. ``code`` is AWS's error code, ``message`` its sentence.

    ``headers``: of the response, by lowercase name.
    """

    def __init__(self, code: str, message: str, headers: Mapping[str, str]) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.headers = headers


class EndpointElsewhere(WireFault):
    """The endpoint that the user has chosen is in a different partition than the region, or that of another service."""


class UnusableProfile(WireFault):
    """The profile has no usable credentials: its program or file does not exist, or their content is malformed."""


class Unsendable(WireFault):
    """A parameter is invalid: the API would reject it."""


class AwsSession:
    """Creates clients as the AWS CLI does; an option wins over environment and profile.

    ``largest``: bytes of a response that streams an object. ``seconds``: the time limit for a response with all
    attempts; None for that of `Deadline`. ``of_job`` False: what is read does not belong to a job in SageMaker.
    """

    def __init__(
        self,
        profile: str | None = None,
        region: str | None = None,
        *,
        largest: int = LARGEST,
        connections: int = 4,
        seconds: float | None = None,
        of_job: bool = True,
    ) -> None:
        core = botocore.session.Session(event_hooks=copy.copy(_handlers()), include_builtin_handlers=False)
        if profile:  # what is read from here on is that of the profile, not that of AWS_PROFILE
            core.set_config_variable("profile", profile)
        require_profiles(core)
        core.register_component("data_loader", api_models(core.get_config_variable("data_path")))
        self._core = core
        # The AWS CLI and other SDKs read AWS_REGION before AWS_DEFAULT_REGION; boto3 only reads the latter.
        named = region or os.environ.get("AWS_REGION") or None
        self.session = boto3.Session(profile_name=profile, region_name=named, botocore_session=core)
        require_settings(core)
        # After the session has set the profile: the providers read it when they are created.
        for provider in _CACHING:
            core.get_component("credential_provider").get_provider(provider).cache = _ROLES
        limit_questions(core)
        hide_what_is_sent(core)
        self._largest = largest
        self._seconds = seconds
        self._of_job = of_job
        self._connections = Connections(_trust(core.get_config_variable("ca_bundle")), connections)
        self._models: dict[str, Any] = {}
        self._call = threading.local()
        self.session.events.register("before-send", self._sent)

    def client(self, service: str, **options: Any) -> Any:
        """Return a client; ``options`` are those of boto3. Raises `WireFault`, and as `has_credentials` does."""
        self.has_credentials()
        config = Config(retries=_ATTEMPTS).merge(options.pop("config", None) or Config())
        of_service = CLIENT_NAME_TO_HYPHENIZED_SERVICE_ID_OVERRIDES.get(service, service).upper().replace("-", "_")
        names = f"AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_{of_service}, and `endpoint_url`"
        try:
            client = self.session.client(service, config=config, **options)
            endpoint = str(client.meta.endpoint_url)
            parsed(endpoint)
            wrong = self._endpoint_fault(service, endpoint, str(client.meta.region_name))
        except BotoCoreError:
            raise
        except (AttributeError, TypeError, LookupError):  # of what should have members
            raise UnusableProfile("its `s3` or `services` is malformed") from None
        except (BadResponse, ValueError):  # its text contains the endpoint, which may contain a password in any place
            raise WireFault(f"the endpoint of {service} is not a URL such as `https://host`; check {names}") from None
        if wrong:
            raise EndpointElsewhere(f"the endpoint `{shown_url(endpoint)}` {wrong}; unset {names}")
        model = client.meta.service_model
        self._models[model.service_id.hyphenize()] = model
        return client

    def _endpoint_fault(self, service: str, endpoint: str, region: str) -> str:
        """Return why an endpoint is not one for a job in a region; empty if it is. Raise `ValueError` for no URL."""
        parts = urlsplit(endpoint)
        host = parts.hostname or ""
        # Accounts, buckets, and images of one partition do not exist in another.
        if is_of_another_partition(host, region):
            return f"is in a different partition of AWS, but the job in {region}"
        if is_of_aws(host):
            if not is_at_own_port(parts):
                return "is a host of AWS, but not with `https` at its own port"
            there = region_of_endpoint(endpoint, service) if service in _EXACT else ""
            # The host of a bucket answers with objects of its owner.
            if there is None:
                return f"is in AWS, but it is not one of the API of {service}"
            if there and there != region and service != "s3":
                return f"is in {there}, but the job in {region}"
        elif self._of_job and service in _OF_JOBS and is_in_aws(self.client("sagemaker")):
            return f"is not in AWS, but SageMaker is: the job {_OF_JOBS[service]}"
        return ""

    def has_credentials(self) -> bool:
        """Get the credentials, and return whether there are any. Raises what boto3 raises: use `responses`."""
        try:
            credentials = self.session.get_credentials()
            if credentials is not None:
                frozen = credentials.get_frozen_credentials()
                if not isinstance(frozen.access_key, str) or not isinstance(frozen.secret_key, str):
                    raise UnusableProfile("its keys are not strings")
                for name in ("access_key", "secret_key", "token"):
                    if not _KEY.fullmatch(str(getattr(frozen, name) or "x")):
                        raise UnusableProfile(f"its {name.replace('_', ' ')} contains a character that no key has")
                hide((frozen.secret_key, frozen.token))
        except OSError as fault:  # a program or a file that the profile names
            raise UnusableProfile(f"`{fault.filename}`: {fault.strerror}" if fault.filename else str(fault)) from None
        except _SHAPES as fault:
            raise UnusableProfile(_sentence(fault)) from None
        return credentials is not None

    def s3_client(self) -> Any:
        """Return a client of S3. Raises `WireFault`."""
        # Servers other than AWS's seldom have a host name for each bucket.
        profile = self._core.get_scoped_config()
        has_endpoint = any(os.environ.get(name) for name in _S3_ENDPOINTS) or "endpoint_url" in profile
        client = self.client("s3", config=Config(s3={"addressing_style": "path"} if has_endpoint else {}))
        # Those of AWS do, and its accelerated endpoint has nothing else.
        return self.client("s3") if has_endpoint and is_in_aws(client) else client

    def _sent(self, request: AWSPreparedRequest, event_name: str, **_event: object) -> AWSResponse | None:
        """Send a request of botocore. An error that may be retried is an exception of botocore."""
        if not isinstance(request.body, (bytes, str, type(None))):
            return None  # an upload
        streams = bool(request.stream_output)
        headers = {str(name): _text(value) for name, value in request.headers.items()}
        ours = HttpRequest(
            url=parsed(request.url), method=request.method, headers=headers, body=request.body, encoded=streams
        )
        try:
            limit = self._largest if streams else LARGEST
            response = exchanged(self._connections, ours, self._deadline(headers), limit)
        except ConnectionBroken as fault:
            raise _Passing(error=fault) from None
        is_object = streams and response.status < 300
        body = response.body if is_object else _well_formed(response, *self._output(event_name))
        # botocore takes any other document for the location of a bucket in us-east-1.
        if event_name.endswith(".GetBucketLocation") and response.status < 300 and b"<LocationConstraint" not in body:
            raise BadResponse("the response is not the location of a bucket")
        return AWSResponse(request.url, response.status, _joined(response), _Body(body))

    def _output(self, event_name: str) -> tuple[Any, bool]:
        """Return the shape of the response to a request, by `before-send.SERVICE.OPERATION`, and whether it is JSON."""
        _, service, operation = event_name.split(".", 2)
        model = self._models.get(service)
        if model is None:
            return None, False
        return model.operation_model(operation).output_shape, "json" in str(model.metadata.get("protocol"))

    def _deadline(self, headers: dict[str, str]) -> Deadline:
        """Return the deadline of a call: one for all its attempts, which have the same id in botocore."""
        call = headers.get("amz-sdk-invocation-id")
        if call is None or getattr(self._call, "id", None) != call:
            self._call.id, self._call.deadline = call, Deadline(self._seconds)
        deadline: Deadline = self._call.deadline
        return deadline


def is_in_aws(client: Any) -> bool:
    """Return whether the calls of a client go to AWS itself, and not to an emulator."""
    return is_of_aws(urlsplit(str(client.meta.endpoint_url)).hostname or "")


@contextmanager
def responses(purpose: str) -> Iterator[None]:
    """Convert all exceptions of boto3 calls to `AwsRefused`, `Unsendable`, or `WireFault`, with a complete sentence.

    ``purpose`` follows "cannot": ``read `s3://…```. Put only the calls inside: their parsers may raise any error of
    Python for a response of the wrong shape.
    """
    try:
        yield
    except NoRegionError:
        raise WireFault("no AWS region; pass `--region` or set AWS_REGION") from None
    except NoCredentialsError:
        raise WireFault(f"no AWS credentials to {purpose}; set AWS_PROFILE or log in with `aws`") from None
    except EOFError:  # of botocore's prompt
        raise WireFault(
            f"cannot get AWS credentials to {purpose}: its MFA device needs a code, and this is not a terminal"
        ) from None
    except (UnusableProfile, *_LOGIN) as fault:
        login = isinstance(fault, SSOError | TokenRetrievalError) and "aws sso login" not in str(fault)
        help = "; log in with `aws sso login`" if login else ""
        raise WireFault(f"cannot get AWS credentials to {purpose}: {_sentence(fault)}{help}") from None
    except ParamValidationError as fault:
        raise Unsendable(_sentence(fault)) from None
    except ClientError as fault:
        error = fault.response.get("Error")
        details = error if isinstance(error, dict) else {}
        message = str(details.get("Message", "")).partition(_SIGNED)[0]
        metadata = fault.response.get("ResponseMetadata")
        headers = metadata.get("HTTPHeaders") if isinstance(metadata, dict) else None
        code = _masked(str(details.get("Code", "")))[:80]
        raise AwsRefused(code, _sentence(message), headers if isinstance(headers, dict) else {}) from None
    except EndpointElsewhere:
        raise
    except (WireFault, BotoCoreError) as fault:
        raise WireFault(f"cannot {purpose}: {_sentence(fault)}") from None
    except _SHAPES:
        raise WireFault(f"cannot {purpose}: the response is not what the API of AWS describes") from None


@functools.cache
def _handlers() -> HierarchicalEmitter:
    """Return botocore's own handlers of events: to register them takes most of the time of a session."""
    hooks = HierarchicalEmitter()
    botocore.session.Session(event_hooks=hooks)
    return hooks


@functools.cache
def api_models(path: str | None) -> Loader:
    """Return what reads the API models, each once per process: botocore would read them again for every session."""
    return create_loader(path)


_ESCAPE = re.compile(rb"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|(?P<half>\\u[dD][89a-fA-F]..)|\\.")
"""A pair of surrogates, half of one, or another escape."""


class _Passing(HTTPClientError):  # type: ignore[misc]  # botocore has no types
    """The connection broke: botocore sends the request again."""

    fmt = "{error}"


class _Body(io.BytesIO):
    """The body of a response, as botocore reads one."""

    def stream(self) -> Iterator[bytes]:
        yield self.read()


def _well_formed(response: HttpResponse, shape: Any, is_json: bool) -> bytes:
    """Return the body of a response that botocore can parse; an empty one for an error that it could not parse.

    A page that a proxy sends instead is no response: botocore would find nothing in it, and return that.
    """
    try:
        body = response.body.lstrip()
        if body.startswith(b"<"):
            check_xml(response.body)
            if is_json or re.match(rb"(?:<\?[^>]*>\s*)?<html\b", body, re.IGNORECASE):
                raise BadResponse("the response is a page, not an answer of AWS")
        elif body.startswith((b"{", b"[")):
            # A log may have half of a surrogate pair, which a program cut or wrote; the rest of the page is readable.
            content = _ESCAPE.sub(_whole_pair, response.body) if b"\\u" in body else response.body
            data = json_body(content)
            if response.status < 300 and shape is not None:
                check_shape(data, shape, "the response")
            return content
        elif body and "cbor" not in response.header("content-type"):
            raise BadResponse("the response is neither JSON nor XML")
    except BadResponse:
        if response.status < 300:
            raise
        return b""
    return response.body


def _whole_pair(match: re.Match[bytes]) -> bytes:
    return b"\\ufffd" if match["half"] else match[0]


def _joined(response: HttpResponse) -> dict[str, str]:
    """Return the headers for botocore, by name."""
    joined: dict[str, str] = {}
    for name, value in response.headers:
        joined[name] = f"{joined[name]}, {value}" if name in joined else value
    return joined


def _trust(bundle: object) -> Trust:
    if isinstance(bundle, str) and bundle:
        return Trust(named=(bundle, "the CA bundle for AWS"))
    return trust_of_environment(added=(get_cert_path(True),))


def _text(value: object) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _sentence(fault: object) -> str:
    return continued(_masked(str(fault)))[:300] or "no reason was given"


def _masked(text: str) -> str:
    return _OF_URLS.sub(r"\1\2", without_credentials(text[:_LONGEST]))
