"""Sample values of keys: the examples of the schema, and more where rules depend on the value."""

from __future__ import annotations

from smspec.source import Mapping, Node, Path, Scalar, Sequence, Span
from smspec.spec.schema.keys import choices, key_path, spec_keys, written_key

# Values far apart, so that no rule has the same result for all of them.
_FAR_APART: dict[str, tuple[object, ...]] = {
    "name": ("one", "another-job"),
    "role": ("arn:aws-cn:iam::222233334444:role/one", "arn:aws-us-gov:iam::333344445555:role/another"),
    "region": ("cn-north-1", "us-gov-west-1"),
    "account": ("222233334444", "333344445555"),
    "image.base": ("debian:12", "registry.example.com/team/base:1"),
    "hosts": ({"groups": [{"name": "a", "instance_type": "ml.p4d.24xlarge", "count": 3}]},),
    "hosts.instance_type": ("ml.m5.large", "ml.g5.48xlarge", "ml.trn1.32xlarge"),
    "hosts.count": (1, 2, 40),
    "hosts.volume": (1, 900),
    "hosts.groups.*.instance_type": ("ml.m5.large", "ml.g5.48xlarge", "ml.trn1.32xlarge"),
    "hosts.groups.*.count": (1, 2, 40),
    "entry_point": ({"command": ["./one"]},),
    "output": ("s3://one-bucket/a/", "s3://another-bucket/b/"),
    "output.s3": ("s3://one-bucket/a/", "s3://another-bucket/b/"),
    "channels.*": ("s3://one-bucket/c/", "s3://another-bucket/d/"),
    "channels.*.s3": ("s3://one-bucket/c/", "s3://another-bucket/d/"),
    "checkpoints.s3": ("s3://one-bucket/e/", "s3://another-bucket/f/"),
    "stopping.max_runtime": ("60s", "27d"),
    "spot.max_wait": ("60s", "28d"),
    "network.isolation": (True, False),
    "network.encrypt_inter_container": (True, False),
}


def samples(path: Path, span: Span) -> tuple[Node, ...]:
    """Return valid values for the key at ``path``, with the position ``span``; none for an unknown key."""
    key = key_path(path)
    if not key:
        return ()
    schema = spec_keys()[key]
    examples = schema.get("examples")
    known = (*(examples if isinstance(examples, list) else ()), *choices(schema))
    return tuple(_node(value, span) for value in (*known, *_FAR_APART.get(written_key(key), ())))


def _node(value: object, span: Span) -> Node:
    if isinstance(value, dict):
        return Mapping(tuple((Scalar(key, key, True, span), _node(item, span)) for key, item in value.items()), span)
    if isinstance(value, list):
        return Sequence(tuple(_node(item, span) for item in value), span)
    text = value if isinstance(value, str) else str(value).lower()
    assert value is None or isinstance(value, str | bool | int | float)
    return Scalar(text, value, not isinstance(value, str), span)
