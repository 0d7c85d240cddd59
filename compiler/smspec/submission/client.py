"""The SageMaker client: its errors as sentences, calls that are sent again, and the description and tags of a job.

The classes of errors say who can fix them.

A call is repeated for a while if AWS or a registry throttles it, or fails. The account of a job is that of its role,
which the credentials must belong to, and never that of examples; no file of the repository contains the account of the
credentials, so STS is asked for it.
"""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from smspec.source.frozen import dataclass
from smspec.wire.aws import AwsRefused, AwsSession, Unsendable, responses
from smspec.wire.fault import WireFault

Answer = TypeVar("Answer")

BUDGET_SECONDS = 300.0
"""For one call and its repetitions: throttling of an account lasts as long as others call, mostly seconds."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 15.0
THROTTLED = (
    *("Throttling", "ThrottlingException", "ThrottledException", "RequestThrottled", "RequestLimitExceeded"),
    *("TooManyRequestsException", "LimitExceeded", "SlowDown", "PriorRequestNotComplete"),
)
"""Error codes of a call that AWS accepts later."""

_TRANSIENT = (
    *THROTTLED,
    *("ServerException", "InternalFailure", "InternalServerError", "InternalError", "ServiceUnavailable"),
    *("ServiceUnavailableException", "500", "502", "503", "504"),
    *("ConditionalRequestConflict", "RequestTimeout"),  # of S3: a different upload of the object is under way
)

ANSWER_SECONDS = 60.0
"""The pauses of a call that changes nothing or can be repeated by its user: a person waits for the answer."""

_NO_SUCH_JOB = ("ValidationException", "ResourceNotFound", "ClientException")
_MOST_PAGES = 20
"""Enough for the 50 tags that a job can have."""

_EXPIRED = ("ExpiredToken", "ExpiredTokenException", "RequestExpired", "TokenRefreshRequired")
_UNKNOWN = ("UnrecognizedClientException", "InvalidClientTokenId", "InvalidSignatureException", "SignatureDoesNotMatch")
_SKEWED = ("RequestTimeTooSkewed", "RequestInTheFuture")

INVALID_CREDENTIALS = (*_EXPIRED, *_UNKNOWN, *_SKEWED)
"""Error codes of a call with credentials that AWS does not accept."""

_CLOCK = re.compile(
    r"RequestTimeTooSkewed|RequestInTheFuture|RequestExpired|Signature (?:expired|not yet current)", re.I
)

DENIED = (
    *("AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AuthorizationError"),
    *("403", "Forbidden"),  # of a HEAD request, whose response has no body
)
"""Error codes of a call that no policy allows."""

_NOT_ALLOWED = re.compile(r"not authorized to perform: ([A-Za-z0-9-]+:[A-Za-z0-9*]+)(?: on resource: ([!-~]+))?")

EXAMPLE_ACCOUNT = "111122223333"
"""Of the documentation of AWS, of the specs that `smspec init` writes, and of the examples."""

_EXAMPLE_ARN = re.compile(rf"arn:[^:]*:[^:]*:[^:]*:{EXAMPLE_ACCOUNT}:")
_EXAMPLE_REGISTRY = f"{EXAMPLE_ACCOUNT}.dkr.ecr."


class JobRefused(Exception):
    """AWS rejects the job: it does not exist, or is invalid."""


class AwsUnavailable(Exception):
    """AWS cannot be called: no credentials, no region, no connection, or no permission."""


class InvalidCredentials(AwsUnavailable):
    """AWS does not accept the credentials; a new login may help, and repeating the call does not."""


class AccessDenied(AwsUnavailable):
    """An IAM policy does not allow the call; repeating it does not help."""


class ActionDenied(AccessDenied):
    """The credentials lack a permission. ``action`` and ``resource`` as IAM writes them; ``resource`` may be empty."""

    def __init__(self, action: str, resource: str) -> None:
        super().__init__(f"AWS denies `{action}`" + (f" on `{resource}`" if resource else ""))
        self.action = action
        self.resource = resource


def sagemaker_client(profile: str | None, region: str | None) -> Any:
    """Return a client configured as the AWS CLI does it; an option wins over environment and profile."""
    with asked("SageMaker"):
        return AwsSession(profile, region).client("sagemaker")


def has_credentials(profile: str | None) -> bool:
    """Return whether AWS can be called at all. Raise `AwsUnavailable`, as for a profile that does not exist.

    A person may be asked for the code of a device here, and for none after it.
    """
    with submission_errors("AWS credentials", ""), responses("call AWS"):
        return AwsSession(profile).has_credentials()


def region_of_profile(profile: str | None) -> str:
    """Return the region of a profile, or that of the environment; empty if neither has one. Raise `AwsUnavailable`."""
    with submission_errors("AWS credentials", ""), responses("call AWS"):
        return str(AwsSession(profile).session.region_name or "")


def answered(
    what: str, action: str, call: Callable[[], dict[str, Any]], *, budget: float = ANSWER_SECONDS
) -> dict[str, Any]:
    """Return the response to ``call``, which is repeated while AWS throttles it or fails. Raise as `asked` does.

    ``budget``: seconds of pauses between the attempts.
    """

    def attempt() -> dict[str, Any]:
        with responses(f"ask AWS for {what}"):
            return call()

    with submission_errors(what, action):
        return persistently(attempt, budget=budget)


def _is_transient(fault: WireFault) -> bool:
    return isinstance(fault, AwsRefused) and fault.code in _TRANSIENT


def persistently(
    call: Callable[[], Answer],
    *,
    passes: Callable[[WireFault], bool] = _is_transient,
    budget: float = BUDGET_SECONDS,
) -> Answer:
    """Return what a call returns, after as many attempts as ``budget`` seconds allow. Raises what the last one raises.

    ``passes``: whether a fault may be gone later. botocore has repeated each attempt a few times itself.
    """
    waited, length = 0.0, _FIRST_PAUSE
    while True:
        try:
            return call()
        except WireFault as fault:
            if not passes(fault) or waited + length > budget:
                raise
        time.sleep(length)
        waited, length = waited + length, min(length * 2, _LONGEST_PAUSE)


@contextmanager
def asked(what: str, action: str = "") -> Iterator[None]:
    """Convert what boto3 raises while it requests ``what`` to `JobRefused` or `AwsUnavailable`.

    ``action``: the call's name in an IAM policy, for `ActionDenied`.
    """
    with submission_errors(what, action), responses(f"ask AWS for {what}"):
        yield


@contextmanager
def submission_errors(what: str, action: str) -> Iterator[None]:
    """Convert faults of calls to `JobRefused` or `AwsUnavailable`, as `asked` does."""
    try:
        yield
    except Unsendable as fault:
        raise JobRefused(f"{what}: {fault}") from None
    except AwsRefused as refusal:
        if refusal.code in _NO_SUCH_JOB:
            raise JobRefused(f"{what}: {refusal.message}") from None
        if action and refusal.code in DENIED:
            raise (denied_action(refusal.message) or ActionDenied(action, "")) from None
        if refusal.code in INVALID_CREDENTIALS:
            raise unavailable(f"ask AWS for {what}", refusal.code, refusal.message, action) from None
        raise AwsUnavailable(f"AWS rejects the request for {what}: {refusal}") from None
    except WireFault as fault:
        raise AwsUnavailable(str(fault)) from None


def described(client: Any, name: str, *, budget: float = ANSWER_SECONDS, newer: Collection[str] = ()) -> dict[str, Any]:
    """Return the response of DescribeTrainingJob. ``budget``: seconds of pauses while AWS throttles the call.

    ``newer``: the paths of members that it has although botocore's model lacks them.

    Raise `JobRefused` if the job does not exist, `AwsUnavailable` if AWS cannot be called.
    """
    if newer:
        from smspec.wire.aws_shape import keep_newer_members  # imported late: most calls do not need it

        keep_newer_members(client, sent="CreateTrainingJob", shown="DescribeTrainingJob", named=newer)
    call = functools.partial(client.describe_training_job, TrainingJobName=name)
    what = f"the job `{name}` in {client.meta.region_name}"
    answer = answered(what, "sagemaker:DescribeTrainingJob", call, budget=budget)
    if answer.get("TrainingJobName") != name or not isinstance(answer.get("TrainingJobArn"), str):
        raise AwsUnavailable(f"the SageMaker response does not describe the job `{name}`")
    return answer


def tags_of(client: Any, name: str, arn: str) -> list[dict[str, str]]:
    """Return the tags of a job, each a mapping with Key and Value. Raise `JobRefused` or `AwsUnavailable`."""
    tags: list[dict[str, str]] = []
    token: dict[str, str] = {}
    for _ in range(_MOST_PAGES):
        call = functools.partial(client.list_tags, ResourceArn=arn, **token)
        page = answered(f"the tags of the job `{name}`", "sagemaker:ListTags", call)
        for tag in page.get("Tags", ()):
            if not all(isinstance(tag.get(member), str) for member in ("Key", "Value")):
                raise AwsUnavailable("the SageMaker response contains tags without a key or value")
            tags.append(tag)
        if not page.get("NextToken"):
            return tags
        token = {"NextToken": page["NextToken"]}
    raise AwsUnavailable(f"the SageMaker listing of the tags of `{name}` does not end")


def denied_action(sentence: str) -> ActionDenied | None:
    """Return the permission that AWS's sentence says is missing, from an API or from a registry; None if it is none."""
    found = _NOT_ALLOWED.search(sentence)
    return None if found is None else ActionDenied(found[1], (found[2] or "").strip(".,:\"'"))


def unaccepted(code: str, message: str) -> str:
    """Return why AWS does not accept credentials."""
    if _CLOCK.search(f"{code}: {message}"):
        return f"AWS does not accept the time of the request ({code}): set the clock of this machine"
    if code in _EXPIRED:
        return "the AWS credentials have expired; log in again"
    return f"AWS does not accept the credentials ({code})"


def unavailable(what: str, code: str, message: str, action: str, resource: str = "") -> AwsUnavailable:
    """Return the error for what AWS rejects.

    ``what`` follows "cannot". ``action`` and ``resource``: the permission that the call requires.
    """
    if code in INVALID_CREDENTIALS:
        return InvalidCredentials(f"cannot {what}: {unaccepted(code, message)}")
    if code in DENIED:
        return denied_action(message) or ActionDenied(action, resource)
    return AwsUnavailable(f"cannot {what}: {code}: {message}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The identity behind the credentials, as STS names it."""

    account: str
    arn: str


def caller_of(profile: str | None, region: str | None) -> Caller:
    """Return who the credentials belong to, which needs no permission. Raise `AwsUnavailable`."""
    with asked("the account of the credentials", "sts:GetCallerIdentity"):
        answer = AwsSession(profile, region).client("sts").get_caller_identity()
    account, arn = answer.get("Account"), answer.get("Arn")
    if not isinstance(account, str) or not isinstance(arn, str):
        raise AwsUnavailable("the STS response does not contain the account of the credentials")
    return Caller(account=account, arn=arn)


def role_account(requests: Iterable[Mapping[str, Any]]) -> str:
    """Return the account of the execution role, which is that of the job; empty if the request has no ARN of a role."""
    for request in requests:
        fields = str(request.get("RoleArn", "")).split(":")
        if len(fields) > 5 and fields[4]:
            return fields[4]
    return ""


def account_fault(caller: Caller, account: str) -> str:
    """Return why a caller cannot create a job in an account; empty if it can."""
    if not account or caller.account == account:
        return ""
    return (
        f"the execution role belongs to account {account}, but the AWS credentials to {caller.account}"
        f" ({caller.arn}); set `--profile` to one of account {account}"
    )


def example_account_fault(request: Any, built_image: str = "") -> str:
    """Return why AWS cannot run a request that has ARNs or images of the example account; empty if it has none.

    ``built_image``: an image whose registry is that of the role's account, so the spec does not contain it.
    """
    found = dict.fromkeys(
        each for each in _texts(request) if _EXAMPLE_ARN.match(each) or each.startswith(_EXAMPLE_REGISTRY)
    )
    if not found:
        return ""
    names = ", ".join(f"`{each}`" for each in found if each != built_image) or f"`{built_image}`"
    return f"{EXAMPLE_ACCOUNT} is the account of examples; replace it with yours in the spec: {names}"


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _texts(each)
