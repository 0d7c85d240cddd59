"""The actions that a call of the script needs, and the ARNs it is about, as IAM compares them with those of a policy.

A row of aws_calls.csv is one method of a kind of object, such as ``s3`` for a client or ``s3.Bucket``; a method may
have several rows. ``resource`` is the end of an ARN, with the parameters of the call in braces. A row with ``when``
is about calls with one of these arguments; ``mode:write``: with a mode in which a file is written.

https://docs.aws.amazon.com/service-authorization/latest/reference/ lists the forms of ARNs by service.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache

from smspec.render.iam.statements import JobPlace, literal, location
from smspec.script.aws import GAP, AwsCall
from smspec.service.facts import table
from smspec.source.frozen import dataclass, replace

_TABLE = "aws_calls"

Arguments = Mapping[str, str]

NOT_NAMED = "does not name one: narrow it"
_ANY = re.compile(r"arn:[^:]*:s3:::\*|arn:[^:]*:(?!s3:::)(?:[^:]*:){3}(?:[a-z-]+[/:])?\*")
_FIELD = re.compile(r"\{([^}]*)\}")
_QUEUE = re.compile(r"https?://([^/]*)/([^/]+)/([^/]+)/?")
_QUEUE_REGION = re.compile(r"(?:sqs(?:-fips)?\.([a-z0-9-]+)|([a-z0-9-]+)\.queue)\.")
_FUNCTION = re.compile(r"(?:(?:[a-z0-9-]+:)?(\d{12}):)?(?:function:)?([^:]+)(?::([^:]+))?")
_GEOGRAPHIES = ("ap", "apac", "au", "ca", "eu", "global", "jp", "me", "sa", "us", "us-gov")
"""The first part of the id of an inference profile, before the id of its model."""

_OTHER_NAMES = {"StreamName": "StreamARN", "logGroupName": "logGroupIdentifier", "TopicArn": "TargetArn"}
"""Arguments that may stand for another one."""

_OWNERS = {"codeartifact": "domainOwner", "ecr": "registryId", "sqs": "QueueOwnerAWSAccountId"}
"""Arguments with the account of the resource."""

_WORKS_ON = {"sts": "iam"}
"""Services whose actions are about resources of another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NeededActions:
    """``actions`` on ``resource``; ``parameters`` are the names of arguments that are passed by position."""

    actions: tuple[str, ...]
    resource: str
    parameters: tuple[str, ...]
    when: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """``actions`` on ``arn``. ``wide``: why it is about more than the call; ``alias``: only keys with this alias."""

    actions: tuple[str, ...]
    arn: str
    wide: str = ""
    alias: str = ""


def needed_actions(owner: str, method: str) -> tuple[NeededActions, ...]:
    """Return what a call needs; empty if the table does not have it."""
    return _rows().get((owner, method), ())


@cache
def _rows() -> Mapping[tuple[str, str], tuple[NeededActions, ...]]:
    found: dict[tuple[str, str], tuple[NeededActions, ...]] = {}
    for row in table(_TABLE).rows():
        needed = NeededActions(
            actions=tuple(row["actions"].split()),
            resource=row["resource"],
            parameters=tuple(row["parameters"].split()),
            when=tuple(row["when"].split()),
        )
        key = (row["owner"], row["method"])
        found[key] = (*found.get(key, ()), needed)
    return found


def service_of(actions: tuple[str, ...]) -> str:
    return actions[0].partition(":")[0]


def permissions(call: AwsCall, needed: NeededActions, given: Arguments, place: JobPlace) -> Iterator[Permission]:
    """Yield what a call needs, with a wildcard for each unknown part of an ARN."""
    service = service_of(needed.actions)
    if needed.resource == "*":
        yield Permission(actions=needed.actions, arn="*")
        return
    where = replace(place, region=_pattern(call.region)) if call.region else place
    owner = given.get(_OWNERS.get(service, ""), "")
    where = replace(where, account=_pattern(owner)) if owner else where
    for found in _FORMS.get(service, _named)(needed, given, where):
        wide = found.wide or (NOT_NAMED if _ANY.match(found.arn) and not found.alias else "")
        yield replace(found, wide=wide)


def arguments(call: AwsCall, needed: NeededActions) -> dict[str, str]:
    """Return the arguments of a call by name, with the bucket and key of those that are addresses in S3."""
    given = dict(call.given)
    for index, (name, text) in enumerate(zip(needed.parameters, call.positional, strict=False)):
        entries = {key: value for key, value in call.given.items() if key.startswith(f"{index}.")}
        given |= {f"{name}{key[len(str(index)) :]}": value for key, value in entries.items()}
        given.setdefault(name, text)
    # The entries of ExtraArgs are arguments of the operations that a transfer consists of.
    given = {**{key.removeprefix("ExtraArgs."): value for key, value in given.items()}, **given}
    for name, value in list(given.items()):
        if value.startswith("s3://") or (call.owner == "s3fs" and "." not in name):
            found = location(value if value.startswith("s3://") else f"s3://{value}")
            given |= {f"{name}.Bucket": found.bucket if found else GAP, f"{name}.Key": found.key if found else GAP}
        elif name == "CopySource" and value != GAP:
            given |= _copied(value)
    return given


def applies(needed: NeededActions, given: Arguments) -> bool:
    """Return whether a call has the arguments that a row is about."""
    if needed.when == ("mode:write",):
        mode = given.get("mode", "")
        return any(one in mode for one in ("w", "a", "x", "+", GAP))
    names = {name for key in given for name in (key, *_holders(key))}
    return not needed.when or not names.isdisjoint(needed.when)


def _holders(key: str) -> Iterator[str]:
    while "." in key:
        key = key.rpartition(".")[0]
        yield key


def _copied(source: str) -> dict[str, str]:
    """Return the parts of ``bucket/key?versionId=…``, or of the same with an access point."""
    from urllib.parse import unquote  # imported late: few scripts copy objects

    path, has_version, version = source.partition("?versionId=")
    bucket, _, key = path.lstrip("/").partition("/object/" if path.startswith("arn:") else "/")
    parts = {"CopySource.Bucket": bucket, "CopySource.Key": unquote(key)}
    return parts | ({"CopySource.VersionId": version} if has_version else {})


def _pattern(text: str) -> str:
    """Return a text as it is written in an ARN, with a wildcard for each gap."""
    return re.sub(r"\*+", "*", "*".join(literal(part) for part in text.split(GAP))) if GAP in text else literal(text)


def _argument(needed: NeededActions, given: Arguments) -> str:
    """Return the first argument that a resource has."""
    field = _FIELD.search(needed.resource)
    name = field[1] if field else ""
    return given.get(name, given.get(_OTHER_NAMES.get(name, ""), GAP))


def _filled(resource: str, given: Arguments) -> str:
    filled = _FIELD.sub(lambda field: _pattern(given.get(field[1], GAP)), resource)
    return re.sub(r"(?<!\{)\*+", "*", filled)


def _parsed(text: str, service: str) -> str | None:
    """Return an ARN with wildcards; None if its service is unknown or a different one."""
    parts = text.split(":", 5)
    if len(parts) < 6 or parts[2] != service or not parts[5]:
        return None
    return ":".join(["arn", *(_pattern(part) for part in parts[1:])])


def _anything(needed: NeededActions, place: JobPlace, wide: str = NOT_NAMED) -> Permission:
    service = service_of(needed.actions)
    arn = "*" if service in ("bedrock", "s3", *_WORKS_ON) else place.arn(service, "*")
    return Permission(actions=needed.actions, arn=arn, wide=wide)


def _named(needed: NeededActions, given: Arguments, place: JobPlace) -> Iterator[Permission]:
    """Yield the permission on a resource that the call names, or whose ARN it has."""
    service = service_of(needed.actions)
    value = _argument(needed, given)
    head, _, rest = _FIELD.split(needed.resource, maxsplit=1)
    if value.startswith("arn:"):
        arn = _parsed(value, _WORKS_ON.get(service, service))
        yield Permission(actions=needed.actions, arn=arn + _filled(rest, given)) if arn else _anything(needed, place)
    elif not head and not rest and needed.resource.endswith("Arn}"):
        yield _anything(needed, place)
    else:
        resource = re.sub(r"(?<!\{)\*+", "*", head + _pattern(value) + _filled(rest, given))
        yield Permission(actions=needed.actions, arn=place.arn(service, resource))


def _topic(needed: NeededActions, given: Arguments, place: JobPlace) -> Iterator[Permission]:
    """Yield `*` for a phone number, which has no ARN, and for the endpoint of a device."""
    target = _argument(needed, given)
    if "PhoneNumber" in given:
        wide = "publishes to a phone number, which has no ARN"
        yield Permission(actions=needed.actions, arn="*", wide=wide)
    elif target.startswith("arn:") and "/" in target:
        yield Permission(actions=needed.actions, arn="*", wide="publishes to an endpoint, not to a topic")
    else:
        yield from _named(needed, given, place)


def _queue(needed: NeededActions, given: Arguments, place: JobPlace) -> Iterator[Permission]:
    """Yield the queue of a URL: ``https://sqs.REGION.amazonaws.com/ACCOUNT/QUEUE``."""
    url = _argument(needed, given)
    found = _QUEUE.fullmatch(url)
    if found is not None:
        region = _QUEUE_REGION.match(found[1])
        where = replace(place, account=_pattern(found[2]))
        if region is not None:
            where = replace(where, region=region[1] or region[2])
        elif GAP in found[1]:
            where = replace(where, region="*")
        yield Permission(actions=needed.actions, arn=where.arn("sqs", _pattern(found[3])))
    elif "/" in url:
        yield _anything(needed, place)
    else:
        yield from _named(needed, given, place)


def _function(needed: NeededActions, given: Arguments, place: JobPlace) -> Iterator[Permission]:
    """Yield the function, its version, or its alias: the ARN of a version is not the one of the function."""
    value = _argument(needed, given)
    qualifier = f":{_pattern(given['Qualifier'])}" if "Qualifier" in given else ""
    found = _FUNCTION.fullmatch(value)
    if value.startswith("arn:"):
        arn = _parsed(value, "lambda")
        if arn is None:
            yield _anything(needed, place)
        else:
            yield Permission(actions=needed.actions, arn=arn + (qualifier if arn.count(":") == 6 else ""))
    elif found is None:
        yield _anything(needed, place)
    else:
        where = replace(place, account=found[1]) if found[1] else place
        qualifier = f":{_pattern(found[3])}" if found[3] else qualifier
        yield Permission(actions=needed.actions, arn=where.arn("lambda", f"function:{_pattern(found[2])}{qualifier}"))


def _log_group(needed: NeededActions, given: Arguments, place: JobPlace) -> Iterator[Permission]:
    """Yield the log group; its ARN may end with ``:*`` in an argument too."""
    for found in _named(needed, given, place):
        yield replace(found, arn=re.sub(r"(?::\*){2,}\Z", ":*", found.arn.replace(":${*}", ":*")))


def _secret(needed: NeededActions, given: Arguments, place: JobPlace) -> Iterator[Permission]:
    """Yield the secret: Secrets Manager appends six random characters to its name."""
    is_name = not _argument(needed, given).startswith("arn:")
    for found in _named(needed, given, place):
        is_whole = found.arn.endswith("*") or (not is_name and re.search(r"-[A-Za-z0-9]{6}\Z", found.arn))
        yield found if is_whole else replace(found, arn=f"{found.arn}-??????")


def _parameter(needed: NeededActions, given: Arguments, place: JobPlace) -> Iterator[Permission]:
    """Yield the parameter, without its version or label; those of AWS itself are of no account."""
    value = _argument(needed, given)
    if value.startswith("arn:"):
        yield from _named(needed, given, place)
        return
    name = value.partition(":")[0].strip("/") or GAP
    where = replace(place, account="*") if name.startswith("aws/service/") else place
    field = _FIELD.search(needed.resource)
    yield from _named(needed, {field[1] if field else "": name}, where)
    secret = name.removeprefix("aws/reference/secretsmanager/")
    if secret != name:
        reads = NeededActions(actions=("secretsmanager:GetSecretValue",), resource="secret:{SecretId}", parameters=())
        yield from _secret(reads, {"SecretId": secret}, place)


def _key(needed: NeededActions, given: Arguments, place: JobPlace) -> Iterator[Permission]:
    """Yield the key. The ARN of an alias in a policy is not about its key (KMS developer guide, aliases)."""
    where, is_alias, alias = _argument(needed, given).partition("alias/")
    if not is_alias:
        yield from _named(needed, given, place)
        return
    holder = _parsed(f"{where}key/", "kms") if where else place.arn("kms", "key/")
    is_known = GAP not in alias and holder is not None
    yield Permission(
        actions=needed.actions,
        arn=f"{holder or place.arn('kms', 'key/')}*",
        alias=f"alias/{alias}" if is_known else "",
        wide="" if is_known else "names an alias that smspec cannot read: narrow it",
    )


def _model(needed: NeededActions, given: Arguments, place: JobPlace) -> Iterator[Permission]:
    """Yield a model of Bedrock. A call of an inference profile needs the models behind it too (Bedrock user guide)."""
    if needed.resource != "{modelId}":
        yield from _named(needed, given, place)
        return
    value = _argument(needed, given)
    models = f"arn:{place.partition}:bedrock:*::foundation-model/"
    profile = value.partition(":inference-profile/")[2] if value.startswith("arn:") else value
    geography, _, model = profile.partition(".")
    if value.startswith("arn:"):
        arn = _parsed(value, "bedrock")
        if arn is None or ":prompt/" in arn:
            yield _anything(needed, place, "names a resource whose models smspec does not know: narrow it")
            return
        yield Permission(actions=needed.actions, arn=arn)
        if ":application-inference-profile/" in arn or ":default-prompt-router/" in arn or ":prompt-router/" in arn:
            wide = "names a profile or router whose models smspec does not know: narrow it"
            yield Permission(actions=needed.actions, arn=f"{models}*", wide=wide)
    elif GAP in geography:
        yield _anything(needed, place)
        return
    elif geography not in _GEOGRAPHIES:
        arn = f"arn:{place.partition}:bedrock:{place.region}::foundation-model/{_pattern(value)}"
        yield Permission(actions=needed.actions, arn=arn)
    else:
        yield Permission(actions=needed.actions, arn=place.arn("bedrock", f"inference-profile/{_pattern(value)}"))
    if geography in _GEOGRAPHIES:
        yield Permission(actions=needed.actions, arn=f"{models}{_pattern(model)}")


def _sagemaker(needed: NeededActions, given: Arguments, place: JobPlace) -> Iterator[Permission]:
    """Yield the resource as the call names it, and in lowercase, as its ARN has it."""
    for found in _named(needed, given, place):
        head, _, name = found.arn.partition("/")
        yield found
        if name != name.lower():
            yield replace(found, arn=f"{head}/{name.lower()}")


def _bucket(needed: NeededActions, given: Arguments, place: JobPlace) -> Iterator[Permission]:
    """Yield the bucket or objects, by the kind of bucket: general purpose, directory, or access point."""
    bucket = _argument(needed, given)
    rest = _filled(_FIELD.split(needed.resource, maxsplit=1)[2], given)
    service = bucket.split(":")[2] if bucket.count(":") >= 5 else ""
    if bucket.startswith("arn:"):
        arn = _parsed(bucket, service) if service.startswith("s3") and "accesspoint" in bucket else None
        # The actions on access points of Object Lambda and Outposts have the prefix of that service.
        actions = tuple(action.replace("s3:", f"{service}:", 1) for action in needed.actions)
        below = f"/object{rest}" if rest and service != "s3-object-lambda" else ""
        yield Permission(actions=actions, arn=arn + below) if arn else _anything(needed, place)
    elif bucket.endswith("--x-s3"):
        # Sessions authorize all calls on the objects of a directory bucket (S3 user guide, S3 Express One Zone).
        yield Permission(actions=("s3express:CreateSession",), arn=place.arn("s3express", f"bucket/{_pattern(bucket)}"))
    elif bucket.endswith("-s3alias"):
        arn = place.arn("s3", f"accesspoint/*{'/object' if rest else ''}{rest}")
        yield Permission(actions=needed.actions, arn=arn, wide="names the alias of an access point: name its ARN")
    else:
        arn = f"arn:{place.partition}:s3:::{_pattern(bucket)}{rest}"
        yield Permission(actions=needed.actions, arn=re.sub(r"(?<!\{)\*+", "*", arn))


_FORMS: Mapping[str, Callable[[NeededActions, Arguments, JobPlace], Iterator[Permission]]] = {
    "bedrock": _model,
    "kms": _key,
    "lambda": _function,
    "logs": _log_group,
    "s3": _bucket,
    "sagemaker": _sagemaker,
    "secretsmanager": _secret,
    "sns": _topic,
    "sqs": _queue,
    "ssm": _parameter,
}
