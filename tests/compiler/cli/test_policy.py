"""``smspec.toml``: requirements of an organization on every job."""

import json
import re

import pytest

from smspec.organization import policy_of
from smspec.workspace.boundary_search import boundary_of
from support.small_job import READY, write_job
from support.smspec_command import smspec

MUTABLE = READY.replace("small:1", "small:latest")
"""An image whose tag can change: a warning, SM332."""


PRICES = '[prices]\n"ml.m5.large" = 0.115\n'
LISTS = ("DebugRuleConfigurations", "ProfilerRuleConfigurations")
"""Their rules are containers with the role of the job."""
RULE = "{RuleConfigurationName: x, RuleEvaluatorImage: a.dkr.ecr/evil, InstanceType: ml.r5.24xlarge}"
RULES = f"""api:
  DebugHookConfig: {{S3OutputPath: "s3://models/debug/"}}
  DebugRuleConfigurations: [{RULE}]
  ProfilerConfig: {{S3OutputPath: "s3://models/profile/"}}
  ProfilerRuleConfigurations: [{RULE.replace("x", "y", 1)}]
"""
ALGORITHM = 'api: {AlgorithmSpecification: {TrainingImage: null, AlgorithmName: "mine"}}\n'
PREFERRED = """api:
  ResourceConfig:
    InstanceType: null
    InstanceCount: null
    InstancePreferences:
      - {InstanceType: ml.m5.large, InstanceCount: 1}
      - {InstanceType: ml.p4d.24xlarge, InstanceCount: 2}
"""
BASES = {
    "org/base.yaml": "smspec: v1\n",
    "middle.yaml": "smspec: v1\nextends: [org/base.yaml]\n",
    "other.yaml": "smspec: v1\n",
}


def validated(directory, policy, spec=READY, name="smspec.toml"):
    """Return the (code, path) of everything that is wrong with a spec under a policy."""
    write_job(directory, spec)
    (directory / name).write_text(policy, encoding="utf-8")
    done = smspec("validate", "--format", "json", cwd=directory)
    return [(record["code"], record["path"], record["severity"]) for record in json.loads(done.out)]


@pytest.mark.parametrize(
    ("policy", "spec", "expected"),
    [
        ('required_tags = ["team"]', READY, [("SM740", "tags")]),
        ('required_tags = ["team"]', READY + "tags: {team: ads}\n", []),
        ('required_tags = {team = ["ads"]}', READY + "tags: {team: adz}\n", [("SM740", "tags.team")]),
        ("required_tags = {team = []}", READY + "tags: {team: adz}\n", []),
        ('allowed_instance_families = ["ml.m5"]', READY, []),
        ('allowed_instance_families = ["g5", "p4d"]', READY, [("SM741", "hosts.instance_type")]),
        ('allowed_regions = ["us-west-2"]', READY, []),
        ('allowed_queues = ["a"]', READY + "queue: a\n", []),
        ('allowed_queues = ["a"]', READY + "queue: arn:aws:batch:us-west-2:111122223333:job-queue/a\n", []),
        ('allowed_queues = ["a"]\n[rules]\nSM763 = "off"', READY, []),
        ("max_priority = 5", READY + "queue: {name: a, priority: 5}\n", []),
        ("max_hours = 30", READY + "queue: {name: a, attempts: 2}\n", [("SM749", "hosts")]),
        ('allowed_regions = ["eu-central-1"]', READY, [("SM742", "image")]),
        ('allowed_regions = ["eu-central-1"]', READY + "region: us-west-2\n", [("SM742", "region")]),
        ('allowed_registries = ["111122223333.dkr.ecr.us-west-2.amazonaws.com"]', READY, []),
        ('allowed_registries = ["111122223333.dkr.ecr.us-west-2.amazonaws.com/small"]', READY, []),
        ('allowed_registries = ["111122223333.dkr.ecr.us-west-2.amazonaws.com/sma"]', READY, [("SM743", "image")]),
        (
            'allowed_registries = ["111122223333.dkr.ecr.us-west-2.amazonaws.com"]',
            READY + ALGORITHM,
            [("SM743", "api.AlgorithmSpecification.AlgorithmName")],
        ),
        (
            'allowed_registries = ["111122223333.dkr.ecr.us-west-2.amazonaws.com"]',
            READY + RULES,
            [("SM743", f"api.{name}[0].RuleEvaluatorImage") for name in LISTS],
        ),
        (
            'allowed_instance_families = ["m5"]',
            READY + RULES,
            [("SM741", f"api.{name}[0].InstanceType") for name in LISTS],
        ),
        ("max_hours = 72", READY + RULES, []),
        ("max_hours = 71", READY + RULES, [("SM749", "hosts")]),
        (f"max_cost = 3\n{PRICES}", READY + RULES, [("SM750", "hosts")]),
        ("max_hours = 48", READY + PREFERRED, []),
        ("max_hours = 47", READY + PREFERRED, [("SM749", "hosts")]),
        (f"max_cost = 3\n{PRICES}", READY + PREFERRED, [("SM750", "hosts")]),
        (f'max_cost = 100\n{PRICES}"ml.p4d.24xlarge" = 32.77\n', READY + PREFERRED, [("SM748", "hosts")]),
        ("require_kms = true", READY, [("SM744", "hosts.volume_kms_key"), ("SM744", "output.kms_key")]),
        (
            "require_kms = true",
            READY.replace("volume: 10GB", "volume: 10GB, volume_kms_key: 1234abcd-12ab-34cd-56ef-1234567890ab").replace(
                "output: s3://models/small/", "output: {s3: s3://models/small/, kms_key: alias/models}"
            ),
            [],
        ),
        (
            "require_kms = true",
            READY.replace("ml.m5.large, count: 1, volume: 10GB", "ml.g5.xlarge, count: 1").replace(
                "output: s3://models/small/", "output: {s3: s3://models/small/, kms_key: alias/models}"
            ),
            [],
        ),
        ("require_vpc = true", READY, [("SM745", "network")]),
        ("require_vpc = true", READY + "network: {subnets: [subnet-0aa1bb2cc], security_groups: [sg-0bb1cc2dd]}\n", []),
        ('require_base = ["org/base.yaml"]', READY, [("SM751", "extends")]),
        ('require_base = ["org/base.yaml"]', READY + "extends: [other.yaml]\n", [("SM751", "extends")]),
        ('require_base = ["org/base.yaml"]', READY + "extends: [org/base.yaml]\n", []),
        ('require_base = ["org/base.yaml"]', READY + "extends: [middle.yaml]\n", []),
        ('require_base = ["other.yaml", "./org/../org/base.yaml"]', READY + "extends: [middle.yaml]\n", []),
        ("max_hours = 23.5", READY, [("SM749", "hosts")]),
        ("max_hours = 24", READY, []),
        ("max_hours = 5", READY + "stopping: {max_runtime: 5h}\n", []),
        ("max_hours = 5", READY + "stopping: {max_runtime: 30m}\nspot: {max_wait: 6h}\n", [("SM749", "hosts")]),
        (f"max_cost = 2.7\n{PRICES}", READY, [("SM748", "hosts")]),
        (f"max_cost = 2.76\n{PRICES}", READY, []),
        (f"max_cost = 3\n{PRICES}", READY.replace("ml.m5.large", "ml.m5.xlarge"), [("SM750", "hosts")]),
        ("", READY, []),
    ],
)
def test_job_is_checked_against_the_policy(tmp_path, policy, spec, expected):
    for name, text in BASES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert [(code, path) for code, path, _ in validated(tmp_path, policy, spec)] == expected


def test_base_image_is_checked_against_the_registries(tmp_path):
    write_job(tmp_path)
    (tmp_path / "smspec.toml").write_text('allowed_registries = ["111122223333.dkr.ecr.us-west-2.amazonaws.com"]')
    found = json.loads(smspec("validate", "--format", "json", cwd=tmp_path).out)
    assert [(record["code"], record["path"]) for record in found] == [("SM743", "image.base")]
    (tmp_path / "smspec.toml").write_text(
        'allowed_registries = ["docker.io/library/", "111122223333.dkr.ecr.us-west-2.amazonaws.com"]'
    )
    assert json.loads(smspec("validate", "--format", "json", cwd=tmp_path).out) == []


@pytest.mark.parametrize(
    ("level", "expected"), [("error", "error"), ("warning", "warning"), ("note", "note"), ("off", None)]
)
def test_rule_severity_can_be_changed(tmp_path, level, expected):
    found = {code: severity for code, _, severity in validated(tmp_path, f'[rules]\nSM332 = "{level}"\n', MUTABLE)}
    assert found.get("SM332") == expected


IGNORING = MUTABLE + "checks: {ignore: [{rule: SM332, because: built every night}]}\n"


@pytest.mark.parametrize(
    ("policy", "codes"),
    [
        ("", []),
        ("allow_ignores = true", []),
        ("allow_ignores = false", ["SM332", "SM746"]),
        ('allow_ignores = ["SM332"]', []),
        ('allow_ignores = ["SM333"]', ["SM332", "SM746"]),
    ],
)
def test_policy_limits_what_may_be_ignored(tmp_path, policy, codes):
    assert sorted(code for code, _, _ in validated(tmp_path, policy, IGNORING)) == codes


def test_policy_findings_are_ignored_only_if_allowed(tmp_path):
    spec = MUTABLE + "checks: {ignore: [{rule: SM745, because: no}, {rule: SM332, because: built every night}]}\n"
    assert [c for c, _, _ in validated(tmp_path, "require_vpc = true", spec)] == ["SM745", "SM746"]
    policy = 'require_vpc = true\nallow_ignores = ["SM745", "SM332"]'
    assert validated(tmp_path, policy, spec) == []


def test_inner_policy_does_not_hide_an_outer_one(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.smspec]\nrequire_vpc = true\n[tool.other]\nx = 1\n")
    job = tmp_path / "specs" / "small"
    job.mkdir(parents=True)
    write_job(job, READY)
    found = smspec("validate", "specs", cwd=tmp_path)
    assert "`pyproject.toml` requires a VPC" in found.out
    (job / "smspec.toml").write_text("")
    assert "`pyproject.toml` requires a VPC" in smspec("validate", "specs", cwd=tmp_path).out


@pytest.mark.parametrize(
    "text", ["[tool.black]\nexclude = '%s'\n" % ("x|" * 2_000), "this is no TOML [\n", "#" * 65_526]
)
def test_foreign_tables_of_pyproject_are_ignored(tmp_path, text):
    (tmp_path / "pyproject.toml").write_text(text)
    write_job(tmp_path, READY)
    assert smspec("validate", cwd=tmp_path).status == 0
    (tmp_path / "pyproject.toml").write_text(f"{text}[tool.smspec]\nrequire_vpc = true\n")
    assert "SM747" in smspec("validate", cwd=tmp_path).out


def test_fault_in_pyproject_is_located_in_its_table(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.black]\nrequire_kms = 1\n[tool.smspec]\nrequire_kms = 1\n")
    write_job(tmp_path, READY)
    (found,) = json.loads(smspec("validate", "--format", "json", cwd=tmp_path).out)
    assert (found["code"], found["file"], found["line"]) == ("SM747", "pyproject.toml", 4)


@pytest.mark.parametrize(
    "text",
    [
        '"\xff',
        "a = ",
        "[rules\n",
        "required_tags = 1",
        "allow_ignores = [1]",
        "rules = 1",
        '[prices]\n"ml.m5.large" = "x"',
    ],
)
def test_malformed_policy_is_reported(tmp_path, text):
    assert [code for code, _, _ in validated(tmp_path, text)] == ["SM747"]


def test_raw_request_is_checked_against_the_policy(tmp_path):
    write_job(tmp_path, READY)
    request = smspec("render", "--api-json", cwd=tmp_path).out
    (tmp_path / "request.json").write_text(request)
    (tmp_path / "smspec.toml").write_text('required_tags = ["team"]\nrequire_vpc = true\n[rules]\nSM332 = "off"\n')
    found = json.loads(smspec("validate", "--api-json", "request.json", "--format", "json", cwd=tmp_path).out)
    assert sorted((record["code"], record["path"]) for record in found) == [("SM740", "Tags"), ("SM745", "VpcConfig")]


def test_missing_file_means_no_policy(tmp_path):
    assert policy_of(str(tmp_path), boundary_of(str(tmp_path))) is None


@pytest.mark.parametrize(
    "header",
    ["[tool.smspec]", '["tool" . "smspec"]', "[ tool . smspec ]", "[tool]\n[tool.smspec]", "[tool]\nsmspec.x = 1\n[a]"],
)
def test_pyproject_table_is_found_in_any_notation(tmp_path, header):
    (tmp_path / "pyproject.toml").write_text(f"[project]\nname = 'a'\n{header}\nnothing_known = 1\n")
    write_job(tmp_path, READY)
    found = json.loads(smspec("validate", "--format", "json", cwd=tmp_path).out)
    assert [record["code"] for record in found] == ["SM747"]


def test_pyproject_above_128_kib_is_rejected(tmp_path):
    write_job(tmp_path, READY)
    with open(tmp_path / "pyproject.toml", "wb") as file:
        file.truncate(1 << 40)
    done = smspec("validate", cwd=tmp_path)
    assert (done.status, "more than 128 KiB" in done.out) == (1, True)


def test_pyproject_depending_on_smspec_is_not_a_policy(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["smspec"]\n[tool.other]\nx = [\n')
    write_job(tmp_path, READY)
    assert json.loads(smspec("validate", "--format", "json", cwd=tmp_path).out) == []


NEWER = "763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:9.9.0-gpu-py399"
OF_A_NEWER_IMAGE = re.sub(r"image: .*", f"image: {NEWER}", READY)


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("", ["SM385"]),
        ('facts = {images = ["pytorch-training:9.9.0-gpu-py399"]}', []),
        (f'[facts]\nimages = ["{NEWER}"]', []),
        ('facts = {images = ["pytorch-training:9.9.1-gpu-py399"]}', ["SM385"]),
        ('facts = {images = ["pytorch-training"]}', ["SM747"]),
        ('facts = {tags = ["9.9.0"]}', ["SM747"]),
        ("facts = true", ["SM747"]),
    ],
)
def test_newer_images_of_aws_are_known_from_facts(tmp_path, policy, expected):
    assert [code for code, _, _ in validated(tmp_path, policy, OF_A_NEWER_IMAGE)] == expected


OREGON = "763104351884.dkr.ecr.us-west-2.amazonaws.com"


@pytest.mark.parametrize(
    ("base", "policy", "expected"),
    [
        (NEWER, "", ["SM385"]),
        (NEWER, 'facts = {images = ["pytorch-training:9.9.0-gpu-py399"]}', []),
        (f"{NEWER}@sha256:{'0f' * 32}", "", ["SM385"]),
        (NEWER.replace("us-west-2", "us-west-9"), "", ["SM385"]),
        (NEWER.replace("us-west-2", "af-south-1"), "", ["SM488"]),
        (f"{OREGON}/sagemaker-scikit-learn:1.2-1-cpu-py3", "", ["SM384"]),
        (f"{OREGON}/pytorch-training:2.5.1-gpu-py311-cu124-ubuntu22.04-ec2", "", []),
        (f"{OREGON.replace('us-west-2', 'eu-west-1')}/pytorch-training:2.5.1-cpu-py311", "", []),
        (NEWER.replace("763104351884", "111122223333"), "", []),
    ],
)
def test_base_images_of_aws_are_checked(tmp_path, base, policy, expected):
    built = re.sub(r"image: .*", f"image: {{base: '{base}'}}", READY) + "entry_point: {command: [train]}\n"
    found = validated(tmp_path, policy, built + "region: us-west-2\n")
    assert [(code, path) for code, path, severity in found if severity != "note"] == [
        (code, "image.base") for code in expected
    ]


def test_facts_apply_to_raw_requests(tmp_path):
    write_job(tmp_path, OF_A_NEWER_IMAGE)
    (tmp_path / "request.json").write_text(smspec("render", "--api-json", cwd=tmp_path).out)
    codes = []
    for policy in ("", 'facts = {images = ["pytorch-training:9.9.0-gpu-py399"]}'):
        (tmp_path / "smspec.toml").write_text(policy)
        done = smspec("validate", "--api-json", "request.json", "--format", "json", cwd=tmp_path)
        codes.append([record["code"] for record in json.loads(done.out)])
    assert codes == [["SM385"], []]


NEWER_API = READY + (
    "api: {ResourceConfig: {CapacityReservationId: {Arn: cr-1}}, OutputDataConfig: {CompressionType: ZSTD}}\n"
    "channels: {a: {s3: s3://data/b/, input_mode: Pipe, api: {InputMode: Stream}}}\n"
)


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ("members = []", ["SM402", "SM407", "SM407"]),
        ('members = ["ResourceConfig.CapacityReservationId"]', ["SM407", "SM407"]),
        ('values = ["OutputDataConfig.CompressionType=ZSTD"]', ["SM402", "SM407"]),
        ('values = ["InputDataConfig.InputMode=Stream", "OutputDataConfig.CompressionType=ZSTD"]', ["SM402"]),
        ('values = ["OutputDataConfig.CompressionType=LZ4"]', ["SM402", "SM407", "SM407"]),
        ('members = ["ResourceConfig.CapacityReservationId.Arn"]', ["SM402", "SM407", "SM407"]),
        ('values = ["OutputDataConfig.CompressionType"]', ["SM747"]),
        ('members = ["api.ResourceConfig[0]"]', ["SM747"]),
        ('members = "ResourceConfig.CapacityReservationId"', ["SM747"]),
    ],
)
def test_newer_members_are_known_from_facts(tmp_path, facts, expected):
    found = validated(tmp_path, f"[facts]\n{facts}\n", NEWER_API)
    assert sorted(code for code, _, severity in found if severity == "error") == expected


def test_member_of_facts_is_in_the_request(tmp_path):
    write_job(tmp_path, READY + "api: {ResourceConfig: {CapacityReservationId: {Arn: cr-1}}}\n")
    (tmp_path / "smspec.toml").write_text('facts = {members = ["ResourceConfig.CapacityReservationId"]}')
    rendered = json.loads(smspec("render", "--api-json", cwd=tmp_path).out)
    assert rendered["ResourceConfig"]["CapacityReservationId"] == {"Arn": "cr-1"}
    (tmp_path / "request.json").write_text(json.dumps(rendered))
    commands = (
        ["validate", "--api-json", "request.json"],
        ["import", "request.json"],
        ["diff", "job.yaml", "job.yaml"],
    )
    assert [smspec(*words, cwd=tmp_path).status for words in commands] == [0, 0, 0]
    (tmp_path / "smspec.toml").write_text("")
    assert [smspec(*words, cwd=tmp_path).status for words in commands] == [1, 1, 2]


PATCHED_UNTIL_2026_11_17 = "246618743249.dkr.ecr.us-west-2.amazonaws.com/sagemaker-xgboost:3.0-5"


@pytest.mark.parametrize(
    ("today", "expected"),
    [
        ('"2026-11-17"', []),
        ('"2026-11-18"', ["SM387"]),
        ("2026-11-28", ["SM387"]),
        ("2020-01-01", []),
        ('"2026-11-31"', ["SM747"]),
        ('"20261128"', ["SM747"]),
        ('"today"', ["SM747"]),
        ("2026-11-28T00:00:00", ["SM747"]),
        ("20261128", ["SM747"]),
        ("true", ["SM747"]),
        ("[2026-11-28]", ["SM747"]),
    ],
)
def test_stated_date_ends_patches(tmp_path, today, expected):
    spec = re.sub(r"image: .*", f"image: {PATCHED_UNTIL_2026_11_17}", READY) + "hyperparameters: {num_round: 9}\n"
    spec += "channels: {train: {s3: s3://data/b/, content_type: text/csv}}\n"
    assert [code for code, _, _ in validated(tmp_path, f"[facts]\ntoday = {today}\n", spec)] == expected


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("", ["SM483"]),
        ('facts = {instance_types = ["ml.m5.32xlarge"]}', []),
        ('facts = {instance_types = ["ml.m5.16xlarge"]}', ["SM483"]),
        ('facts = {instance_types = ["m5.32xlarge"]}', ["SM747"]),
        ('facts = {instance_types = "ml.m5.32xlarge"}', ["SM747"]),
    ],
)
def test_newer_instance_types_are_known_from_facts(tmp_path, policy, expected):
    spec = READY.replace("ml.m5.large", "ml.m5.32xlarge")
    assert [code for code, _, _ in validated(tmp_path, policy, spec)] == expected
    groups = "groups: [{name: a, instance_type: ml.x9.large, count: 1}], volume: 10GB"
    spec = READY.replace("instance_type: ml.m5.large, count: 1, volume: 10GB", groups)
    if expected == ["SM483"]:
        assert [code for code, _, _ in validated(tmp_path, policy, spec)] == ["SM413"]
        known = 'facts = {instance_types = ["ml.x9.large"]}'
        assert [code for code, _, _ in validated(tmp_path, known, spec)] == []
