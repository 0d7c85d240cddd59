"""What is wrong with the shape of a job is told in the author's words, everything at once, each fault once."""

import pytest

from smspec.diagnostics import placed
from smspec.spec.shape.checking import shape_findings
from support.small_job import READY
from support.spec.job_documents import BUILT_JOB, merged_text, told, with_key


def test_a_good_job_has_no_findings():
    assert told(READY) == []
    assert told(BUILT_JOB) == []


@pytest.mark.parametrize(
    ("line", "code", "path", "message", "label"),
    [
        ("smspec: v2", "SM201", "smspec", "unknown version `v2` of the spec", "write `v1`"),
        (
            "hosts: {instance_type: x, count: four}",
            "SM203",
            "hosts.count",
            "expected a whole number, got text `four`",
            "",
        ),
        ("retries: 2.5", "SM203", "retries", "expected a whole number, got number `2.5`", ""),
        ('retries: "2"', "SM203", "retries", "expected a whole number, got text `2`", "write `2` without quotes"),
        ("description: 5", "SM203", "description", "expected text, got whole number `5`", 'write `"5"`, in quotes'),
        ("description: true", "SM203", "description", "expected text, got `true`", 'write `"true"`, in quotes'),
        ("spot: true", "SM203", "spot", "expected a mapping, got `true`", ""),
        ("hosts: [a]", "SM203", "hosts", "expected a mapping, got a list", ""),
        ("output: [a]", "SM203", "output", "expected an S3 URI such as `s3://bucket/prefix/`, got a list", ""),
        ("metrics: {name: x}", "SM203", "metrics", "expected a list, got a mapping", ""),
        (
            "network: {subnets: subnet-1}",
            "SM203",
            "network.subnets",
            "expected a list, got text `subnet-1`",
            "write `[subnet-1]`",
        ),
        (
            "network: {isolation: yes}",
            "SM203",
            "network.isolation",
            "expected `true` or `false`, got text `yes`",
            "write `true`",
        ),
        (
            "network: {isolation: Off}",
            "SM203",
            "network.isolation",
            "expected `true` or `false`, got text `Off`",
            "write `false`",
        ),
        (
            "network: {isolation: 1}",
            "SM203",
            "network.isolation",
            "expected `true` or `false`, got whole number `1`",
            "",
        ),
        ("environment: {A: [1]}", "SM203", "environment.A", "expected text or a number, got a list", ""),
        (
            "account: 111122223333",
            "SM203",
            "account",
            "expected the twelve digits of an AWS account, got whole number `111122223333`",
            'write `"111122223333"`, in quotes',
        ),
        (
            "input_mode: pipe",
            "SM205",
            "input_mode",
            "expected `File`, `FastFile` or `Pipe`, got `pipe`",
            "did you mean `Pipe`?",
        ),
        ("input_mode: 5", "SM205", "input_mode", "expected `File`, `FastFile` or `Pipe`, got `5`", ""),
        (
            "channels: {a: {s3: s3://a/b, distribution: sharded}}",
            "SM205",
            "channels.a.distribution",
            "expected `FullyReplicated` or `ShardedByS3Key`, got `sharded`",
            "did you mean `ShardedByS3Key`?",
        ),
        (
            "output: {s3: s3://a/b, compression: gzip}",
            "SM205",
            "output.compression",
            "expected `GZIP` or `NONE`, got `gzip`",
            "did you mean `GZIP`?",
        ),
        (
            "output: results/",
            "SM206",
            "output.s3",
            "expected an S3 URI such as `s3://bucket/prefix/`, got `results/`",
            "",
        ),
        ("region: usw2", "SM206", "region", "expected an AWS region such as `us-west-2`, got `usw2`", ""),
        (
            "distribution: {torchrun: {port: 0}}",
            "SM207",
            "distribution.torchrun.port",
            "expected at least 1, got `0`",
            "",
        ),
        (
            "distribution: {torchrun: {port: 70000}}",
            "SM207",
            "distribution.torchrun.port",
            "expected at most 65535, got `70000`",
            "",
        ),
        (
            "name: Bert Large",
            "SM208",
            "name",
            "expected a name of lower case letters, digits and single dashes such as `ctr-linear`, got `Bert Large`",
            "write `bert-large`",
        ),
        (f"name: {'a' * 49}", "SM208", "name", "`name` has 49 characters, 48 are allowed", ""),
        (
            "stopping: {max_runtime: 1h30m}",
            "SM211",
            "stopping.max_runtime",
            "expected a duration such as `90s`, `15m`, `6h` or `2d`, or a number of seconds, got text `1h30m`",
            "write `90m`",
        ),
        (
            "stopping: {max_runtime: 0}",
            "SM211",
            "stopping.max_runtime",
            "expected a duration such as `90s`, `15m`, `6h` or `2d`, or a number of seconds, got `0`",
            "",
        ),
        (
            "hosts: {instance_type: x, volume: 500MB}",
            "SM213",
            "hosts.volume",
            "expected whole gigabytes such as `50GB` or `50`, got text `500MB`",
            "write `1GB`",
        ),
        (
            'hosts: {instance_type: x, volume: "50"}',
            "SM213",
            "hosts.volume",
            "expected whole gigabytes such as `50GB` or `50`, got text `50`",
            "write `50` without quotes",
        ),
        ("entry_point: ''", "SM214", "entry_point.script", "`entry_point.script` is empty", ""),
    ],
)
def test_a_value_that_does_not_fit(line, code, path, message, label):
    assert told(with_key(line)) == [(code, tuple(path.split(".")), message, label)]


def test_everything_is_told_at_once_in_the_order_of_the_file():
    text = """\
smspec: v1
name: Bad Name
rol: arn:aws:iam::111122223333:role/x
image: x
hosts:
  instance_typ: ml.m5.large
  count: four
  volume: 0.5GB
output: here
"""
    document = merged_text(text)
    diagnostics = placed(shape_findings(document), document)
    assert [(d.code, d.span.line, d.span.column) for d in diagnostics] == [
        ("SM208", 2, 7),
        ("SM204", 3, 1),
        ("SM204", 6, 3),
        ("SM203", 7, 10),
        ("SM213", 8, 11),
        ("SM206", 9, 9),
    ]


def test_a_long_list_of_choices_is_not_printed():
    (finding,) = shape_findings(merged_text(with_key("entry_point: {pipe_loop: 'a:b', read: {train: recordIO2}}")))
    assert finding.message == "`recordIO2` is not a value of `entry_point.read.train`"
    assert finding.label == "did you mean `recordio`?"
    assert finding.help == "smspec explain entry_point.read lists what it can be"


def test_a_long_text_is_shown_in_part():
    (finding,) = shape_findings(merged_text(with_key(f"region: {'x' * 500}")))
    assert len(finding.message) < 150


@pytest.mark.parametrize("value", ["5", "1e-3", "true", "012", "[]"])
def test_what_is_text_as_written_may_look_like_anything_else(value):
    for key in ("environment", "tags"):
        found = told(with_key(f"{key}: {{A: {value}}}"))
        assert [code for code, *_ in found] == (["SM203"] if value == "[]" else [])
    found = told(with_key(f"image: {{base: x, env: {{A: {value}}}, labels: {{A: {value}}}}}", BUILT_JOB))
    assert [code for code, *_ in found] == (["SM203", "SM203"] if value == "[]" else [])
    words = told(with_key(f"entry_point: {{script: a.py, args: [--a, {value}]}}"))
    assert [code for code, *_ in words] == (["SM203"] if value == "[]" else [])


@pytest.mark.parametrize("key", ["A-B", "1A", "A B", "Ä"])
def test_a_variable_of_the_image_has_a_name_that_a_dockerfile_can_hold(key):
    (finding,) = shape_findings(merged_text(with_key(f'image: {{base: x, env: {{"{key}": 1}}}}', BUILT_JOB)))
    assert (finding.code, finding.path, finding.on) == ("SM206", ("image", "env", key), "key")
    assert finding.message == f"expected a variable name of letters, digits and `_`, got `{key}`"


@pytest.mark.parametrize(
    "line",
    [
        "image: {base: 'python:3.12\\n'}",
        'image: {base: "python:3.12\\nRUN x"}',
        'image: {base: x, system_packages: ["-y"]}',
        'image: {base: x, system_packages: ["a b"]}',
        'image: {base: x, python_packages: ["-r x"]}',
        'image: {base: x, python_packages: ["numpy\\n-r x"]}',
        "image: {base: x, repository: ctr:latest}",
        'image: {base: x, platform: "linux/amd64\\n"}',
        'name: "a\\n"',
        "name: a--b",
        "job_name: -a",
        "role: SageMakerTraining",
        "account: '1234'",
        "entry_point: {module: train.py}",
        "entry_point: {pipe_loop: 'a:b:c'}",
    ],
)
def test_a_text_that_would_break_what_is_made_of_it(line):
    (found,) = told(with_key(line, BUILT_JOB))
    assert found[0] in ("SM206", "SM208")
