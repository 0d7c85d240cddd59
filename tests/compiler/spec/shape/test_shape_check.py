"""Shape errors: complete, without duplicates, in terms of the spec."""

import pytest

from smspec.diagnostics import placed
from smspec.source import dotted
from smspec.spec.shape import shape_findings
from support.small_job import READY
from support.spec.job_documents import BUILT_JOB, merged_text, reported, with_key


def test_valid_job_has_no_findings():
    assert reported(READY) == []
    assert reported(BUILT_JOB) == []


@pytest.mark.parametrize(
    ("line", "code", "path", "message", "label"),
    [
        ("smspec: v2", "SM201", "smspec", "`smspec` is `v2`, which this release does not support", "write `v1`"),
        (
            "hosts: {instance_type: x, count: four}",
            "SM203",
            "hosts.count",
            "`hosts.count` must be an integer, got string `four`",
            "",
        ),
        ("retries: 2.5", "SM203", "retries", "`retries` must be an integer, got number `2.5`", ""),
        (
            'retries: "2"',
            "SM203",
            "retries",
            "`retries` must be an integer, got string `2`",
            "write `2` without quotes",
        ),
        (
            "description: 5",
            "SM203",
            "description",
            "`description` must be a string, got integer `5`",
            'write `"5"`, in quotes',
        ),
        (
            "description: true",
            "SM203",
            "description",
            "`description` must be a string, got `true`",
            'write `"true"`, in quotes',
        ),
        ("spot: true", "SM203", "spot", "`spot` must be a mapping, got `true`", ""),
        ("hosts: [a]", "SM203", "hosts", "`hosts` must be a mapping, got a list", ""),
        ("output: [a]", "SM203", "output", "`output` must be an S3 URI, got a list", ""),
        ("metrics: {name: x}", "SM203", "metrics", "`metrics` must be a list, got a mapping", ""),
        (
            "network: {subnets: subnet-1}",
            "SM203",
            "network.subnets",
            "`network.subnets` must be a list, got string `subnet-1`",
            "write `[subnet-1]`",
        ),
        (
            "network: {isolation: yes}",
            "SM203",
            "network.isolation",
            "`network.isolation` must be `true` or `false`, got string `yes`",
            "write `true`",
        ),
        (
            "network: {isolation: Off}",
            "SM203",
            "network.isolation",
            "`network.isolation` must be `true` or `false`, got string `Off`",
            "write `false`",
        ),
        (
            "network: {isolation: 1}",
            "SM203",
            "network.isolation",
            "`network.isolation` must be `true` or `false`, got integer `1`",
            "",
        ),
        (
            "environment: {A: [1]}",
            "SM203",
            "environment.A",
            "`environment.A` must be a string or a number, got a list",
            "",
        ),
        (
            "account: 111122223333",
            "SM203",
            "account",
            "`account` must be the twelve digits of an AWS account, got integer `111122223333`",
            'write `"111122223333"`, in quotes',
        ),
        (
            "input_mode: pipe",
            "SM205",
            "input_mode",
            "`input_mode` must be `File`, `FastFile`, or `Pipe`, got `pipe`",
            "did you mean `Pipe`?",
        ),
        ("input_mode: 5", "SM205", "input_mode", "`input_mode` must be `File`, `FastFile`, or `Pipe`, got `5`", ""),
        (
            "channels: {a: {s3: s3://a/b, distribution: sharded}}",
            "SM205",
            "channels.a.distribution",
            "`channels.a.distribution` must be `FullyReplicated` or `ShardedByS3Key`, got `sharded`",
            "did you mean `ShardedByS3Key`?",
        ),
        (
            "output: {s3: s3://a/b, compression: gzip}",
            "SM205",
            "output.compression",
            "`output.compression` must be `GZIP` or `NONE`, got `gzip`",
            "did you mean `GZIP`?",
        ),
        (
            "output: results/",
            "SM206",
            "output.s3",
            "`output.s3` must be an S3 URI, got `results/`",
            "",
        ),
        ("region: usw2", "SM206", "region", "`region` must be an AWS region, got `usw2`", ""),
        (
            "distribution: {torchrun: {port: 0}}",
            "SM207",
            "distribution.torchrun.port",
            "`distribution.torchrun.port` is `0`; the minimum is 1",
            "",
        ),
        (
            "distribution: {torchrun: {port: 70000}}",
            "SM207",
            "distribution.torchrun.port",
            "`distribution.torchrun.port` is `70000`; the maximum is 65535",
            "",
        ),
        (
            "name: Bert Large",
            "SM208",
            "name",
            "`name` must be a name of lowercase letters, digits, and single dashes, got `Bert Large`",
            "write `bert-large`",
        ),
        (f"name: {'a' * 49}", "SM208", "name", "`name` has 49 characters; the maximum is 48", ""),
        (
            "stopping: {max_runtime: 1h30m}",
            "SM211",
            "stopping.max_runtime",
            "`stopping.max_runtime` must be a duration, got string `1h30m`",
            "write `90m`",
        ),
        (
            "stopping: {max_runtime: 0}",
            "SM211",
            "stopping.max_runtime",
            "`stopping.max_runtime` must be a duration, got `0`",
            "",
        ),
        (
            "hosts: {instance_type: x, volume: 500MB}",
            "SM213",
            "hosts.volume",
            "`hosts.volume` must be whole gigabytes, got string `500MB`",
            "write `1GB`",
        ),
        (
            'hosts: {instance_type: x, volume: "50"}',
            "SM213",
            "hosts.volume",
            "`hosts.volume` must be whole gigabytes, got string `50`",
            "write `50` without quotes",
        ),
        ("entry_point: ''", "SM214", "entry_point.script", "`entry_point.script` is empty", ""),
    ],
)
def test_unfit_value_is_reported(line, code, path, message, label):
    assert reported(with_key(line)) == [(code, tuple(path.split(".")), message, label)]


def test_all_shape_errors_are_reported_in_file_order():
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


def test_long_list_of_choices_is_not_printed():
    (finding,) = shape_findings(merged_text(with_key("entry_point: {pipe_loop: 'a:b', read: {train: recordIO2}}")))
    assert finding.message == "`recordIO2` is not a value of `entry_point.read.train`"
    assert finding.label == "did you mean `recordio`?"
    assert finding.help == "run `smspec explain entry_point.read` for the list"


def test_long_text_is_shortened():
    (finding,) = shape_findings(merged_text(with_key(f"region: {'x' * 500}")))
    assert len(finding.message) < 150


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("entry_point: {script: a.py, args: \"--fast --name 'a b'\"}", "[--fast, --name, a b]"),
        ('entry_point: {script: a.py, args: "it\'s"}', '["it\'s"]'),
        ("entry_point: {command: ./train --fast}", "[./train, --fast]"),
        ("entry_point: {command: ./train && echo done}", '[sh, -c, "./train && echo done"]'),
        ("distribution: {mpi: {options: -verbose -x A=none}}", "[-verbose, -x, A=none]"),
        ("image: {base: x, system_packages: 'git, curl'}", "[git, curl]"),
        ("image: {base: x, python_packages: 'numpy pandas>=2.1,<3 a[b]'}", '[numpy, "pandas>=2.1,<3", "a[b]"]'),
        ("image: {base: x, python_packages: numpy >= 1.2}", '["numpy >= 1.2"]'),
        ("image: {base: x, run: make all}", "[make all]"),
        ('network: {subnets: "subnet-1, subnet-2"}', "[subnet-1, subnet-2]"),
    ],
)
def test_text_in_place_of_a_list_is_split(line, written):
    (label,) = (label for code, _, _, label in reported(with_key(line, BUILT_JOB)) if code == "SM203")
    assert label == f"write `{written}`"


@pytest.mark.parametrize("value", ["5", "1e-3", "true", "012", "[]"])
def test_text_keys_accept_any_scalar(value):
    for key in ("environment", "tags"):
        found = reported(with_key(f"{key}: {{A: {value}}}"))
        assert [code for code, *_ in found] == (["SM203"] if value == "[]" else [])
    found = reported(with_key(f"image: {{base: x, env: {{A: {value}}}, labels: {{A: {value}}}}}", BUILT_JOB))
    assert [code for code, *_ in found] == (["SM203", "SM203"] if value == "[]" else [])
    words = reported(with_key(f"entry_point: {{script: a.py, args: [--a, {value}]}}"))
    assert [code for code, *_ in words] == (["SM203"] if value == "[]" else [])


@pytest.mark.parametrize("key", ["A-B", "1A", "A B", "Ä"])
def test_image_variable_needs_a_dockerfile_name(key):
    (finding,) = shape_findings(merged_text(with_key(f'image: {{base: x, env: {{"{key}": 1}}}}', BUILT_JOB)))
    assert (finding.code, finding.path, finding.on) == ("SM206", ("image", "env", key), "key")
    assert finding.message == f"`{dotted(('image', 'env', key))}` must be letters, digits, and `_`, got `{key}`"


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
def test_unsafe_text_is_rejected(line):
    (found,) = reported(with_key(line, BUILT_JOB))
    assert found[0] in ("SM206", "SM208")
