"""The output of `terraform show -json` with several jobs, unknown or sensitive values, or nothing to import."""

import copy
import json
from pathlib import Path

import pytest

from support.smspec_command import smspec

STATE = json.loads((Path(__file__).parent / "a-state-of-terraform/source.json").read_text(encoding="utf-8"))
(JOB,) = STATE["values"]["root_module"]["child_modules"][0]["resources"]
MACHINE = json.loads((Path(__file__).parent / "a-plan-of-a-machine/source.json").read_text(encoding="utf-8"))
SECRET = JOB["values"]["environment"]["TRACKING_KEY"]
TWO_COMMANDS = "run `terraform plan -out plan`, then `terraform show -json plan | smspec import -`"


def imported(tmp_path, data, *arguments, name="source.txt"):
    text = data if isinstance(data, bytes) else (data if isinstance(data, str) else json.dumps(data)).encode()
    (tmp_path / name).write_bytes(text)
    return smspec("import", name, *arguments, cwd=tmp_path)


def job(name, key=None, module="", **values):
    """Return a training job as a resource; ``key``: which of several, by `count` or `for_each`."""
    address = f"{module}.aws_sagemaker_training_job.{name}".lstrip(".") + (
        "" if key is None else f"[{json.dumps(key)}]"
    )
    own = {**JOB["values"], "training_job_name": f"{name}-{key}", **values}
    resource = {**JOB, "address": address, "name": name, "values": own}
    del resource["index"]
    return resource if key is None else {**resource, "index": key}


def state(*resources, **modules):
    children = [{"address": f"module.{name}", "resources": each} for name, each in modules.items()]
    return {
        "format_version": "1.0",
        "terraform_version": "1.9.8",
        "values": {"root_module": {"resources": [*resources], "child_modules": children}},
    }


def plan(resource, **change):
    """Return a plan that creates a resource."""
    return {
        "format_version": "1.2",
        "terraform_version": "1.9.8",
        "planned_values": {"root_module": {"resources": [resource]}},
        "resource_changes": [{"address": resource["address"], "change": {"actions": ["create"], **change}}],
    }


SEVERAL = state(job("churn", "eu"), job("churn", "us"), job("digits", 0), other=[job("digits", 1, "module.other")])


@pytest.mark.parametrize(
    ("choice", "name"),
    [
        ('aws_sagemaker_training_job.churn["us"]', "churn-us"),
        ("churn-us", "churn-us"),
        ("3", "digits-0"),
        ("module.other.aws_sagemaker_training_job.digits[1]", "digits-1"),
    ],
)
def test_one_of_several_resources_is_chosen(tmp_path, choice, name):
    done = imported(tmp_path, SEVERAL, "--job", choice)
    assert done.status == 0, done.err
    assert f"job_name: {name}\n" in done.out


def test_several_resources_are_listed_and_written(tmp_path):
    done = imported(tmp_path, SEVERAL)
    assert (done.status, done.out) == (1, "")
    assert "the plan or state creates 4 training jobs; choose one with --job" in done.err
    assert '2 `aws_sagemaker_training_job.churn["us"]`' in done.err
    assert imported(tmp_path, SEVERAL, "-o", "specs").status == 0
    specs = [path.read_text(encoding="utf-8") for path in (tmp_path / "specs").rglob("*.yaml")]
    for name in ("churn-eu", "churn-us", "digits-0", "digits-1"):
        assert sum(f"job_name: {name}\n" in text for text in specs) == 1


def test_addresses_of_old_versions_are_completed(tmp_path):
    """Terraform 0.12 writes addresses in a state without their module and key."""
    old = {"address": "aws_sagemaker_training_job.digits"}
    data = state({**job("digits", 0), **old}, {**job("digits", 1), **old}, other=[{**job("digits", 0), **old}])
    data["format_version"] = "0.1"
    done = imported(tmp_path, data)
    for address in ("digits[0]", "digits[1]"):
        assert f"`aws_sagemaker_training_job.{address}`" in done.err
    assert "`module.other.aws_sagemaker_training_job.digits[0]`" in done.err


def test_replaced_object_is_not_a_job(tmp_path):
    """An object that Terraform could not delete yet has the address of its successor."""
    gone = {**job("digits", role_arn=None), "deposed_key": "00000001"}
    assert imported(tmp_path, state(gone, job("digits"))).status == 0
    change = {
        "address": job("digits")["address"],
        "deposed": "00000001",
        "change": {"after_unknown": {"vpc_config": True}},
    }
    data = plan(job("digits"), after_unknown={})
    data["resource_changes"].append(change)
    done = imported(tmp_path, data)
    assert (done.status, "vpc" in done.err) == (0, False)


def test_unknown_values_of_a_plan_are_variables(tmp_path):
    vpc = [{"subnets": [None, "subnet-1"], "security_group_ids": ["sg-1"]}]
    resource = job("digits", vpc_config=vpc, tags=None)
    del resource["values"]["role_arn"], resource["values"]["hyper_parameters"]
    unknown = {"role_arn": True, "vpc_config": [{"subnets": [True, False]}], "tags": True, "hyper_parameters": True}
    done = imported(tmp_path, plan(resource, after_unknown=unknown))
    assert done.status == 0, done.err
    assert 'role: "${{ vars.digits_role_arn }}"' in done.out
    assert '- "${{ vars.vpc_config_subnets_0 }}"\n    - subnet-1\n' in done.out
    for member in ("Tags", "HyperParameters"):
        assert f"not imported: {member}: it is known only when" in done.err


SENSITIVE = [
    {"environment": {"TRACKING_KEY": True}},
    {"environment": True},
    {"environment": "yes"},
    {"environment": [True]},
    True,
    [True],
]


@pytest.mark.parametrize("flags", SENSITIVE, ids=json.dumps)
@pytest.mark.parametrize("place", ["values", "change"])
def test_sensitive_values_are_never_printed(tmp_path, flags, place):
    """Also if the flags have a shape that Terraform does not write."""
    resource = {**job("digits"), "sensitive_values": flags if place == "values" else {}}
    data = plan(
        resource,
        after=resource["values"],
        after_unknown={},
        **({"after_sensitive": flags} if place == "change" else {}),
    )
    done = imported(tmp_path, data)
    assert done.status in (0, 1)
    assert SECRET not in done.out + done.err
    assert "Terraform marks it as sensitive" in done.err


def test_sensitive_list_and_name_are_named(tmp_path):
    flags = {"training_job_name": True, "region": True, "vpc_config": [{"subnets": True}]}
    done = imported(tmp_path, state({**job("digits"), "sensitive_values": flags}))
    for member in ("training_job_name", "region", "vpc_config[0].subnets"):
        assert f"not imported: {member}: Terraform marks it as sensitive\n" in done.err
    assert "digits-None" not in done.out and "us-west-2\n" not in done.out


def pipeline(definition, **values):
    kind = "aws_sagemaker_pipeline"
    return {"address": f"{kind}.p", "type": kind, "name": "p", "values": {"pipeline_definition": definition, **values}}


def test_pipeline_with_several_steps_is_found(tmp_path):
    request = json.loads(MACHINE["planned_values"]["root_module"]["resources"][1]["values"]["definition"])
    request = {k: v for k, v in request["States"]["Train"]["Parameters"].items() if not k.endswith(".$")}
    steps = [{"Name": name, "Type": "Training", "Arguments": request} for name in ("One", "Two")]
    data = state(pipeline(json.dumps({"Version": "2020-12-01", "Steps": steps})))
    done = imported(tmp_path, data)
    assert done.status == 1
    assert "2 training jobs" in done.err
    assert imported(tmp_path, data, "--job", "Two").status == 0


def machine(definition, **more):
    address = "aws_sfn_state_machine.m"
    values = {} if definition is None else {"definition": definition}
    return {"address": address, "type": "aws_sfn_state_machine", "name": "m", "values": values, **more}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            plan(machine(None), after_unknown={"definition": True}),
            "`aws_sfn_state_machine.m.definition`: it is known only after `terraform apply`; then run"
            " `terraform show -json | smspec import -`",
        ),
        (state(machine("{}", sensitive_values={"definition": True})), "Terraform marks it as sensitive"),
        (plan(machine("{}"), after_sensitive={"definition": True}), "Terraform marks it as sensitive"),
        (state(pipeline(None, pipeline_definition_s3_location=[{"bucket": "b"}])), "it is in S3, at `pipeline_def"),
        (state(machine("{")), "`aws_sfn_state_machine.m.definition`: it is not JSON"),
        (state(machine("{}")), "the plan or state creates no training job"),
        (state({**job("digits"), "mode": "data"}), "the plan or state creates no training job"),
        ({"format_version": "1.0"}, "the plan or state creates no training job"),
        ({"format_version": "1.2", "planned_values": {"root_module": {}}}, "the plan or state creates no training job"),
        ({**SEVERAL, "format_version": "2.0"}, '`format_version` is "2.0"; smspec reads versions 0 and 1'),
        ({**SEVERAL, "format_version": [1]}, "`format_version` is [1]; smspec reads versions 0 and 1"),
        (
            {"version": 4, "terraform_version": "1.9.8", "serial": 3, "lineage": "0", "resources": []},
            "a state file of Terraform, in its private format: run `terraform show -json | smspec import -`",
        ),
        (b"PK\x03\x04" + bytes(26) + b"tfplan\xff\xfe", f"a plan of Terraform that is not JSON: {TWO_COMMANDS}"),
        ('{"@level":"info","type":"version"}\n{"@level":"info"}\n', f"that is not JSON: {TWO_COMMANDS}"),
    ],
    ids=[
        *(
            "unknown definition",
            "sensitive definition",
            "definition that becomes sensitive",
            "definition in S3",
            "definition that is no JSON",
        ),
        *("other machine", "data source", "empty state", "empty plan", "next version", "list as version"),
        *("state file", "plan file", "log"),
    ],
)
def test_output_without_a_job_is_described_in_a_sentence(tmp_path, data, said):
    done = imported(tmp_path, data)
    assert (done.status, done.out) == (1, "")
    assert said in done.err
    assert done.err.count("\n") == 1


def test_definition_that_cannot_be_read_is_named_with_each_job(tmp_path):
    done = imported(tmp_path, state(machine("{"), job("digits")))
    assert done.status == 0
    assert "`aws_sfn_state_machine.m.definition`, which cannot be read" in done.err


PLACES = ["values", "values.root_module", "values.root_module.resources", "values.root_module.child_modules"]


@pytest.mark.parametrize("wrong", [3, "x", True, [], {}, ["x"], {"a": []}], ids=json.dumps)
@pytest.mark.parametrize(
    "place", [*PLACES, "values.root_module.resources[0]", "values.root_module.resources[0].values"]
)
def test_value_of_a_wrong_type_is_named(tmp_path, place, wrong):
    data = copy.deepcopy(SEVERAL)
    *steps, last = [0 if step == "0" else step for step in place.replace("[0]", ".0").split(".")]
    holder = data
    for step in steps:
        holder = holder[step]
    holder[last] = wrong
    done = imported(tmp_path, data, "--job", "1")
    assert done.status in (0, 1), done.err
    is_list = last in ("resources", "child_modules")
    if not isinstance(wrong, list if is_list else dict):
        assert f"`{place}` is not a {'list' if is_list else 'mapping'}\n" in done.err


@pytest.mark.parametrize("length", [30, 60, 400])
def test_output_that_is_cut_off_is_not_quoted(tmp_path, length):
    text = json.dumps(state(job("digits")))
    done = imported(tmp_path, text[: text.index(SECRET) + length])
    assert (done.status, done.out) == (1, "")
    assert done.err == "smspec: `source.txt`: output of Terraform that is cut off, not valid JSON, or nested too deep\n"


def test_deep_and_large_outputs_end_in_a_sentence(tmp_path):
    deep = json.dumps(state()).replace('"child_modules": []', '"child_modules": [{' * 5_000 + "}]" * 5_000)
    nested = (
        '{"format_version": "1.0", "values": {"root_module": ' + '{"child_modules": [' * 3_000 + "]}" * 3_000 + "}}"
    )
    many = state(*(job("digits", index) for index in range(2_000)))
    assert [imported(tmp_path, text).status for text in (deep, nested, many)] == [1, 1, 1]
    done = imported(tmp_path, many)
    assert "the plan or state creates 2000 training jobs" in done.err and "and 1980 more" in done.err
    assert imported(tmp_path, many, "--job", "2000").status == 0


CONFIGURATION = 'resource "aws_sagemaker_training_job" "digits" {\n  role_arn = aws_iam_role.training.arn\n}\n'


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("main.tf", CONFIGURATION),
        ("./main", CONFIGURATION),
        ("main.tf", "# nothing yet\n"),
        ("main.tf", "locals {"),
        ("./a", 'terraform {\n}\nvariable "a" {\n}\n'),
        ("main.tofu", CONFIGURATION),
        ("main.tf.json", '{"resource": {"aws_sagemaker_training_job": {}}}'),
        ("main.tf", b"\xff\xfe"),
    ],
    ids=["blocks", "without an ending", "comment", "open block", "settings", "tofu", "json", "binary"],
)
@pytest.mark.parametrize("arguments", [[], ["-o", "specs"]], ids=["printed", "written"])
def test_configuration_is_refused_with_the_commands_to_run(tmp_path, name, text, arguments):
    done = imported(tmp_path, text, *arguments, name=name)
    assert (done.status, done.out) == (1, "")
    assert done.err == f"smspec: `{name}`: a Terraform configuration: {TWO_COMMANDS}\n"
    assert not (tmp_path / "specs").exists()


def test_block_scalar_of_yaml_is_not_a_configuration(tmp_path):
    text = 'TrainingJobName: a\nHyperParameters:\n  code: |\n    resource "a" "b" {\n    }\n'
    assert "Terraform" not in imported(tmp_path, text).err
