"""Requests of programs: what is unknown is a variable or is listed, and the rest of a mapping stays."""

import json

import pytest

from smspec.importer.imported import RequestNotFound
from smspec.importer.sdk.sdk_job import found_jobs, imported_job
from smspec.importer.spec_writer import write_spec
from support.service.imported_requests import imported_program, without_names
from support.smspec_command import smspec

ESTIMATOR = """
from sagemaker.pytorch import PyTorch
import os, sagemaker, time
{before}
job = PyTorch("train.py", framework_version="2.3.0", py_version="py311", role="arn:aws:iam::111122223333:role/X",
    instance_count=1, instance_type="ml.m5.xlarge", output_path="s3://example-models/o/", {argument})
{after}
job.fit()
"""
MORE = "may add entries, or replace these"
UNKNOWN = "its value is known only when the program runs"


@pytest.mark.parametrize(
    ("before", "given", "expected", "why"),
    [
        ("", '{"a": "1", "x": sagemaker.utils.name_from_base("m")}', {"a": "1", "x": "?"}, ""),
        (
            "",
            '{"a": "1", "x": helper({"b": 2}), "y": cfg.lr, "z": str(time.time())}',
            {"a": "1", "x": "?", "y": "?", "z": "?"},
            "",
        ),
        ("", '{"a": "1", "x": os.environ["HOME"], "y": f"{stamp()}"}', {"a": "1", "x": "?", "y": "?"}, ""),
        ("", '{"a": "1", "x": sagemaker.workflow.functions.Join(on="/", values=[b])}', {"a": "1", "x": "?"}, ""),
        ("", '{"a": "1", name(): 3}', {"a": "1"}, MORE),
        ("", '{"a": "1", **common()}', {"a": "1"}, MORE),
        ("", 'dict(common(), a="1")', {"a": "1"}, MORE),
        ("", 'common() | {"a": "1"}', {"a": "1"}, MORE),
        ('d = {"a": "1"}\nd |= common()', "d", {"a": "1"}, MORE),
        ('d = {"a": "1"}\nd.update(common())', "d", {"a": "1"}, MORE),
        ('d = {"a": "1"}\nlog(d)', "d", {"a": "1"}, MORE),
        ('d = {"a": "1"}\nfor k, v in more():\n    d[k] = v', "d", {"a": "1"}, MORE),
        ('d = {"a": "1"}\nif u():\n    d["b"] = "2"\n    d["a"] = "3"', "d", {"a": "?"}, MORE),
        ('d = {"a": "1", "b": "2", name(): 3}\ndel d["b"]', "d", {"a": "1"}, MORE),
        ('d = {"a": "1", "b": "2", name(): 3}\nd.pop("b")', "d", {"a": "1"}, MORE),
        ('d = {name(): 3}\nd.clear()\nd["a"] = "1"', "d", {"a": "1"}, ""),
        ('d = {"a": "1", "b": "2"}\ndel d["b"]', "d", {"a": "1"}, ""),
        ("", "common()", {}, UNKNOWN),
        ('d = common()\nd["a"] = "1"', "d", {}, UNKNOWN),
    ],
)
def test_unknown_entries_keep_their_neighbors(before, given, expected, why):
    for argument, member in (("environment", "Environment"), ("hyperparameters", "HyperParameters")):
        found = imported_program(ESTIMATOR.format(before=before, argument=f"{argument}={given}", after=""))
        sent = without_names(found.request.get(member, {}))
        assert {name: value.strip('"') for name, value in sent.items()} == expected
        said = [part.why for part in found.not_imported if part.path == (argument,)]
        assert [why in each for each in said] == [True] * bool(why), said


@pytest.mark.parametrize("value", ["[1, f(2)]", '{"a": f(), "b": [1]}', "(1, f())", "[x for x in f()]"])
def test_hyperparameter_with_an_unknown_part_is_one_variable(value):
    found = imported_program(
        ESTIMATOR.format(before="", argument=f'hyperparameters={{"a": 1, "x": {value}}}', after="")
    )
    assert without_names(found.request["HyperParameters"]) == {"a": "1", "x": '"?"'}
    assert [each.name for each in found.variables if each.name not in ("region", "bucket")] == ["x"]


def test_hyperparameters_set_later_keep_their_neighbors():
    after = "job.set_hyperparameters(b=f(), **common())"
    found = imported_program(ESTIMATOR.format(before="", argument='hyperparameters={"a": 1}', after=after))
    assert without_names(found.request["HyperParameters"]) == {"a": "1", "b": '"?"'}
    assert any(MORE in part.why for part in found.not_imported)


@pytest.mark.parametrize(
    ("before", "given", "expected", "lost"),
    [
        (
            "",
            '[{"Key": "a", "Value": "1"}, {"Key": "x", "Value": owner()}, other()]',
            {"a": "1", "x": "?"},
            [("tags", 2)],
        ),
        ("", '{"a": "1", "x": owner()}', {"a": "1", "x": "?"}, []),
        ("", '[*common, {"Key": "a", "Value": "1"}]', {"a": "1"}, [("tags",)]),
        ("", 'common + [{"Key": "a", "Value": "1"}]', {"a": "1"}, [("tags",)]),
        ("", 'lib.tags() + [{"Key": "a", "Value": "1"}] + lib.more()', {"a": "1"}, [("tags",)]),
        ("", 'list(lib.tags()) + list([{"Key": "a", "Value": "1"}])', {"a": "1"}, [("tags",)]),
        ('t = [{"Key": "a", "Value": "1"}]\nt += lib.tags()', "t", {"a": "1"}, [("tags",)]),
        ('d = {"t": [{"Key": "a", "Value": "1"}]}\nd["t"] += lib.tags()', 'd["t"]', {"a": "1"}, [("tags",)]),
        ("", '[{"Key": "a", "Value": "1"}] * n()', {}, [("tags",)]),
        ('t = [{"Key": "a", "Value": "1"}]\nt.append(other())', "t", {"a": "1"}, [("tags", 1)]),
        ('t = f("x")\nt["Owner"] = "ml"', "t", {}, [("tags",)]),
        ("", "other()", {}, [("tags",)]),
    ],
)
def test_unknown_tags_keep_their_neighbors(before, given, expected, lost):
    found = imported_program(ESTIMATOR.format(before=before, argument=f"tags={given}", after=""))
    assert {tag["Key"]: without_names(tag["Value"]) for tag in found.request.get("Tags", [])} == expected
    assert [part.path for part in found.not_imported if part.path[0] == "tags"] == lost


def test_only_variables_of_the_spec_are_declared():
    found = imported_program(
        ESTIMATOR.format(before="", argument='metric_definitions=[{"Name": "a", "Regex": "a"}, f()]', after="")
    )
    text = write_spec(found).text
    assert "metric_definitions" not in text and "MetricDefinitions[1]" in text


def test_variable_of_a_tag_is_named_after_its_key():
    found = imported_program(ESTIMATOR.format(before="", argument='tags=[{"Key": "owner", "Value": f()}]', after=""))
    assert "owner" in {each.name for each in found.variables}


TRAINER = """
from sagemaker.train import ModelTrainer
from sagemaker.train.aws_batch.training_queue import TrainingQueue
from sagemaker.train.configs import Compute, InputData, SourceCode
from sagemaker.train.sft_trainer import SFTTrainer
trainer = ModelTrainer(training_image="111122223333.dkr.ecr.us-west-2.amazonaws.com/churn:1", base_job_name="churn",
    role="arn:aws:iam::111122223333:role/X", compute=Compute(instance_type="ml.m5.xlarge", instance_count=1),
    source_code=SourceCode(source_dir="src", entry_script="train.py"{patterns}))
data = InputData(channel_name="train", data_source="s3://example-data/churn/")
"""


def channels_of(found):
    return [channel["ChannelName"] for channel in found.request.get("InputDataConfig", [])]


USUAL = {"name": "q", "timeout": "1d"}
ALL = (
    "TrainingQueue('q').submit(trainer, [data], priority=5, share_identifier='team', tags={'a': 'b'},"
    " timeout={'attemptDurationSeconds': 3600}, retry_config={'attempts': 3, 'evaluateOnExit': [{'action': 'EXIT'}]},"
    " preemption_config={'preemptionRetriesBeforeTermination': 2})"
)


@pytest.mark.parametrize(
    ("call", "channels", "queue", "lost"),
    [
        ("TrainingQueue('q').submit(training_job=trainer, inputs=[data])", ["train"], USUAL, []),
        ("TrainingQueue(queue_name='q').submit(trainer, [data], 'night')", ["train"], USUAL, []),
        ("TrainingQueue('q').submit(training_job=trainer, inputs=None)", [], USUAL, []),
        (
            ALL,
            ["train"],
            {"name": "q", "priority": 5, "share": "team", "timeout": "1h", "attempts": 3, "preemptions": 2},
            [("queue", "retry_config", "evaluateOnExit")],
        ),
        (
            "TrainingQueue('q').submit(trainer, [data], quota_share_name='s', priority=f(), retry_config=f())",
            ["train"],
            {"name": "q", "quota_share": "s", "timeout": "1d"},
            [("queue", "priority"), ("queue", "retry_config")],
        ),
    ],
)
def test_job_of_a_queue_keeps_its_channels_and_queue(call, channels, queue, lost):
    found = imported_program(TRAINER.format(patterns="") + call)
    assert channels_of(found) == channels
    assert not any("no channels" in each for each in found.additions)
    assert found.keys["queue"] == queue
    assert [part.path for part in found.not_imported] == lost
    assert found.request.get("Tags", []) == ([{"Key": "a", "Value": "b"}] if "tags" in call else [])


def test_unknown_queue_is_a_variable():
    found = imported_program(TRAINER.format(patterns="") + "find_queue().submit(training_job=trainer, inputs=[data])")
    assert channels_of(found) == ["train"]
    assert "queue" in {each.name for each in found.variables}
    assert set(found.keys["queue"]) == {"name", "timeout"}


def test_program_of_a_queue_becomes_its_spec(tmp_path):
    (tmp_path / "a.py").write_text(TRAINER.format(patterns="") + ALL, encoding="utf-8")
    (tmp_path / "src").mkdir()
    (tmp_path / "src/train.py").write_text("pass\n", encoding="utf-8")
    done = smspec("import", "a.py", "-o", "out", cwd=tmp_path)
    assert done.status == 0, done.err
    job = json.loads(smspec("render", "--batch", "out/job.yaml", "--set", "vars.bucket=models", cwd=tmp_path).out)
    assert (job["jobQueue"], job["schedulingPriority"], job["shareIdentifier"]) == ("q", 5, "team")
    assert (job["retryStrategy"], job["timeoutConfig"]) == ({"attempts": 3}, {"attemptDurationSeconds": 3600})
    assert job["tags"]["a"] == "b"


@pytest.mark.parametrize(
    ("call", "channels", "lost"),
    [
        ("job.fit({'a': 's3://bucket/a', 'b': f(), 'c': [1], **more()})", ["a", "b"], [("inputs",), ("inputs", "c")]),
        ("i = {'a': 's3://bucket/a'}\nif u():\n    i['b'] = 's3://bucket/b'\njob.fit(i)", ["a"], [("inputs",)]),
        ("job.fit(f())", [], [("inputs",)]),
    ],
)
def test_unknown_channels_keep_their_neighbors(call, channels, lost):
    text = ESTIMATOR.format(before="", argument="", after="").replace("job.fit()", call)
    found = imported_program(text)
    assert (channels_of(found), [part.path for part in found.not_imported]) == (channels, lost)
    trainer = "trainer.train(input_data_config=[data, f(), InputData(channel_name=g(), data_source='s3://bucket/a')])"
    found = imported_program(TRAINER.format(patterns="") + trainer)
    assert channels_of(found) == ["train"]
    assert [part.path for part in found.not_imported] == [("input_data_config", 1), ("input_data_config", 2)]


def test_classes_of_a_star_import_are_known():
    text = TRAINER.format(patterns="").replace("import Compute, InputData, SourceCode", "import *")
    found = imported_program(f"{text}trainer.train(input_data_config=[data])")
    assert channels_of(found) == ["train"] and found.not_imported == ()


def test_each_input_of_a_queue_is_a_job():
    text = TRAINER.format(patterns="") + "TrainingQueue('q').map(trainer, [[data], None, [data]])"
    found = found_jobs("program.py", text.encode())
    assert [channels_of(imported_job(found, number)) for number in "123"] == [["train"], [], ["train"]]
    assert len(found.jobs) == 3


@pytest.mark.parametrize(
    ("given", "ignored", "lost"),
    [
        ("['data', '*.bin', '.env']", ["data", "*.bin", ".env"], ""),
        ("['!a', '#b']", [r"\!a", r"\#b"], ""),
        ("['data/']", ["data/"], "`data/` excludes nothing"),
        ("['a', f()]", ["a"], "some are known only when"),
        ("f()", None, "some are known only when"),
        ("[]", None, ""),
        ("['']", None, ""),
        ("None", None, ""),
    ],
)
def test_patterns_of_the_source_are_ignored(given, ignored, lost):
    found = imported_program(
        TRAINER.format(patterns=f", ignore_patterns={given}") + "trainer.train(input_data_config=[data])"
    )
    assert found.keys["source"].get("ignore") == ignored
    assert [lost in part.why for part in found.not_imported] == [True] * bool(lost)


def test_ignored_files_are_not_copied(tmp_path):
    program = TRAINER.format(patterns=", ignore_patterns=['data', '*.bin']") + "trainer.train()\n"
    (tmp_path / "a.py").write_text(program, encoding="utf-8")
    for path in ("src/train.py", "src/data/key", "src/lib/data/key", "src/lib/a.bin", "src/lib/a.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("pass\n", encoding="utf-8")
    assert smspec("import", "a.py", "-o", "out", cwd=tmp_path).status == 0
    copied = {path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert copied == {"job.yaml", "src/train.py", "src/lib/a.py"}
    assert "ignore:\n    - data\n" in (tmp_path / "out" / "job.yaml").read_text(encoding="utf-8")


SFT = "SFTTrainer(model='meta', training_dataset='s3://example-data/a.jsonl').train(wait=True)"
REMOTE = (
    "from sagemaker.remote_function import remote\n@remote(instance_type='ml.m5.xlarge')\ndef f(x):\n    return x\nf(1)"
)


@pytest.mark.parametrize(
    ("text", "named", "why"),
    [
        (TRAINER.partition("trainer =")[0] + SFT, "SFTTrainer: line 6", "a recipe in SageMaker's hub"),
        (
            "from sagemaker.jumpstart.estimator import JumpStartEstimator\nj = JumpStartEstimator('m')\nj.fit()",
            "JumpStartEstimator: line 2",
            "the catalog of JumpStart",
        ),
        (
            "from sagemaker.train import ModelTrainer\nt = ModelTrainer.from_jumpstart_config(c)\nt.train()",
            "ModelTrainer: line 2",
            "the catalog of JumpStart",
        ),
        ("import sagemaker\nk = sagemaker.KMeans(k=3)\nk.fit(records)", "KMeans: line 2", "does not read this class"),
        (REMOTE, "remote: line 2", "a pickled function"),
    ],
)
def test_other_trainers_are_refused_with_the_reason(text, named, why):
    with pytest.raises(RequestNotFound) as refused:
        imported_program(text)
    assert str(refused.value).startswith(named) and why in str(refused.value)
    assert "import the job by its name" in str(refused.value)


def test_other_trainers_next_to_a_job_are_listed():
    found = imported_program(TRAINER.format(patterns="") + f"trainer.train()\n{SFT}")
    assert [part.path for part in found.not_imported] == [("SFTTrainer",)]
    found = imported_program(TRAINER.format(patterns="") + "trainer.train()\nsm.create_training_job(**request())")
    assert [part.path for part in found.not_imported] == [("create_training_job",)]


def test_arguments_that_a_function_collects_are_known():
    head, _, body = ESTIMATOR.format(before="", argument="**kwargs", after="").partition("job = ")
    call = body.replace("\n    ", " ").replace("\njob.fit()", "").strip()
    text = f"{head}\ndef make(**kwargs):\n    return {call}\ndef start(*args, **more):\n    make(**more).fit(*args)\n"
    found = imported_program(
        f"{text}start('s3://example-data/churn/', hyperparameters={{'a': 1, 'b': f()}}, max_run=60)\n"
    )
    assert without_names(found.request["HyperParameters"]) == {"a": "1", "b": '"?"'}
    assert found.request["StoppingCondition"] == {"MaxRuntimeInSeconds": 60}
    assert channels_of(found) == ["training"] and found.not_imported == ()


def test_role_of_the_configuration_is_a_variable():
    text = ESTIMATOR.format(before="", argument="", after="").replace('role="arn:aws:iam::111122223333:role/X",', "")
    found = imported_program(text)
    assert without_names(found.request["RoleArn"]) == "?" and "`role` (of its configuration)" in found.additions
