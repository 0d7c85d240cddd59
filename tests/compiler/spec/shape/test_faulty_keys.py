"""Unknown, missing, and incompatible keys."""

import pytest

from smspec.spec.shape.shape_check import shape_findings
from support.small_job import READY
from support.spec.job_documents import BUILT_JOB, merged_text, reported, with_key


@pytest.mark.parametrize(
    ("line", "path", "message", "label"),
    [
        (
            "hosts: {instance_typ: x}",
            "hosts.instance_typ",
            "unknown key `instance_typ` in `hosts`",
            "did you mean `instance_type`?",
        ),
        (
            "hosts: {InstanceType: x}",
            "hosts.InstanceType",
            "unknown key `InstanceType` in `hosts`",
            "did you mean `instance_type`?",
        ),
        ("instance_type: x", "instance_type", "unknown key `instance_type`", "did you mean `hosts.instance_type`?"),
        ("hosts: {tags: {a: b}}", "hosts.tags", "unknown key `tags` in `hosts`", "did you mean `tags`?"),
        ("qqq: 1", "qqq", "unknown key `qqq`", ""),
        ("resources: {}", "resources", "unknown key `resources`", "use `hosts`"),
        ("num_nodes: 2", "num_nodes", "unknown key `num_nodes`", "use `hosts.count`"),
        ("inputs: {}", "inputs", "unknown key `inputs`", "use `channels`"),
        ("workdir: .", "workdir", "unknown key `workdir`", "use `source`"),
        ("env: {}", "env", "unknown key `env`", "use `environment`"),
        ("instance_count: 2", "instance_count", "unknown key `instance_count`", "use `hosts.count`"),
        (
            "hosts: {instance_count: 2}",
            "hosts.instance_count",
            "unknown key `instance_count` in `hosts`",
            "use `count`",
        ),
        ("InstanceType: x", "InstanceType", "unknown key `InstanceType`", "use `hosts.instance_type`"),
        ("TrainingInputMode: x", "TrainingInputMode", "unknown key `TrainingInputMode`", "use `input_mode`"),
        ("RemoteDebugConfig: {}", "RemoteDebugConfig", "unknown key `RemoteDebugConfig`", "move it to `api`"),
        (
            "channels: {a: {s3: s3://a/b, sharding: x}}",
            "channels.a.sharding",
            "unknown key `sharding` in `channels.a`",
            "use `distribution`",
        ),
        (
            "output: {s3: s3://a/b, CompressionType: GZIP}",
            "output.CompressionType",
            "unknown key `CompressionType` in `output`",
            "use `compression`",
        ),
        (
            "distribution: torchrn",
            "distribution.torchrn",
            "unknown key `torchrn` in `distribution`",
            "did you mean `torchrun`?",
        ),
        (
            "distribution: pytorchddp",
            "distribution.pytorchddp",
            "unknown key `pytorchddp` in `distribution`",
            "use `torchrun`",
        ),
    ],
)
def test_unknown_key_is_reported(line, path, message, label):
    assert reported(with_key(line)) == [("SM204", tuple(path.split(".")), message, label)]


def test_key_of_another_tool_names_the_tool():
    (finding,) = shape_findings(merged_text(with_key("num_nodes: 2")))
    assert finding.help == "rename it: `num_nodes` is a key of SkyPilot"
    assert finding.on == "key"


def test_few_keys_are_listed_without_a_near_name():
    (finding,) = shape_findings(merged_text(with_key("metrics: [{name: loss, regex: a, zzz: b}]")))
    assert (finding.message, finding.help) == ("unknown key `zzz` in `metrics[0]`", "use `name` or `regex`")
    (finding,) = shape_findings(merged_text(with_key("zzz: 1")))
    assert (finding.message, finding.help) == ("unknown key `zzz`", "")


@pytest.mark.parametrize("key", ["name", "role", "output", "image", "hosts", "smspec"])
def test_missing_key_of_a_job_is_reported(key):
    text = "".join(f"{line}\n" for line in READY.splitlines() if not line.startswith(f"{key}:"))
    assert reported(text) == [("SM202", (key,), f"missing key `{key}`", "")]


@pytest.mark.parametrize(
    "api",
    [
        "api: {AlgorithmSpecification: {AlgorithmName: linear-learner}}",
        "api: {ServerlessJobConfig: {JobType: FineTuning}}",
    ],
)
def test_api_members_replace_image_and_hosts(api):
    text = "".join(f"{line}\n" for line in READY.splitlines() if not line.startswith(("image:", "hosts:")))
    assert reported(text + api + "\n") == []


def test_built_image_needs_an_entry_point():
    text = "".join(f"{line}\n" for line in BUILT_JOB.splitlines() if not line.startswith("entry_point:"))
    assert reported(text) == [("SM202", ("entry_point",), "missing key `entry_point`", "")]


def test_missing_key_of_a_mapping_is_reported():
    text = with_key("metrics: [{name: loss}]")
    assert reported(text) == [("SM202", ("metrics", 0, "regex"), "missing key `regex` in `metrics[0]`", "")]
    text = with_key("output: {kms_key: x}")
    assert reported(text) == [("SM202", ("output", "s3"), "missing key `s3` in `output`", "")]


@pytest.mark.parametrize(
    ("line", "findings"),
    [
        (
            "entry_point: {args: [a]}",
            [
                (
                    "SM202",
                    "entry_point",
                    "missing key in `entry_point`: `script`, `command`, `module`, or `pipe_loop`",
                )
            ],
        ),
        (
            "channels: {a: {content_type: text/csv}}",
            [("SM202", "channels.a", "missing key in `channels.a`: `s3` or `file_system`")],
        ),
        (
            "entry_point: {script: a.py, module: 'a:b'}",
            [("SM209", "entry_point.module", "`entry_point.script` cannot be combined with `module`")],
        ),
        (
            "channels: {a: {s3: s3://a/b, file_system: {id: fs-12345678, type: EFS, path: /, access: ro}}}",
            [("SM209", "channels.a.file_system", "`channels.a.s3` cannot be combined with `file_system`")],
        ),
        (
            "distribution: {mpi: {}, torchrun: {}}",
            [("SM209", "distribution.torchrun", "`distribution.mpi` cannot be combined with `torchrun`")],
        ),
        (
            "entry_point: {script: a.py, epochs: 5}",
            [("SM210", "entry_point.epochs", "`entry_point.epochs` requires `pipe_loop`")],
        ),
        (
            "entry_point: {module: 'a:b', args: [x]}",
            [("SM210", "entry_point.args", "`entry_point.args` requires `script`")],
        ),
        (
            "entry_point: {module: 'a:b', args_style: json}",
            [("SM209", "entry_point.args_style", "`entry_point.module` cannot be combined with `args_style`")],
        ),
    ],
)
def test_incompatible_keys_are_reported(line, findings):
    assert [(code, ".".join(path), message) for code, path, message, _ in reported(with_key(line))] == findings


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("hosts: {instance_type: x, groups: [{nam: a, instance_type: x, count: 1}]}", ("hosts", "groups", 0, "nam")),
        ("outputs: s3://a/b", ("outputs",)),
        ("entry_point: {scrpt: a.py}", ("entry_point", "scrpt")),
        ("entry_point: {pipeloop: 'a:b', epochs: 3}", ("entry_point", "pipeloop")),
        ("channels: {a: {S3Uri: s3://a/b}}", ("channels", "a", "S3Uri")),
    ],
)
def test_misspelled_key_is_not_also_missing(line, path):
    text = with_key(line)
    if line.startswith("outputs"):
        text = text.replace("output: s3://models/small/\n", "")
    assert [(code, where) for code, where, _, _ in reported(text)] == [("SM204", path)]


@pytest.mark.parametrize(
    ("line", "path", "help"),
    [
        ("distribution: none", "distribution.none", "`torchrun`, `mpi`, `parameter_server`, or `smdataparallel`"),
        ("channels: {a: {qqq: x}}", "channels.a.qqq", "`s3` or `file_system`"),
    ],
)
def test_wrong_alternative_is_one_fault(line, path, help):
    (finding,) = shape_findings(merged_text(with_key(line)))
    assert (finding.path, finding.help) == (tuple(path.split(".")), f"use {help}")


def test_misplaced_key_is_not_also_missing():
    text = READY.replace("hosts: {instance_type: ml.m5.large, count: 1, volume: 10GB}", "instance_type: ml.m5.large")
    assert [(code, where) for code, where, _, _ in reported(text)] == [("SM204", ("instance_type",))]
