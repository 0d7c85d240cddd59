"""Each alternative of `hosts.any_of` is checked, planned, and priced as a job of its own."""

import pytest

from smspec.pipeline.compilation import Compiled, compile_spec
from smspec.pipeline.inputs import gather, in_memory_inputs
from smspec.service.job_costs import PriceBook
from smspec.source import SourceText
from smspec.spec.layers import Assembly
from smspec.spec.layers.merging import alternatives
from smspec.spec.yaml import read
from support.spec import job_samples

HEAD = """\
smspec: v1
name: nightly
role: arn:aws:iam::111122223333:role/Training
region: us-west-2
image: 111122223333.dkr.ecr.us-west-2.amazonaws.com/nightly:1
stopping: {max_runtime: 6h}
output: s3://example-models/nightly/
"""
THREE = """\
hosts:
  count: 1
  any_of:
    - {instance_type: ml.g5.2xlarge, spot: {max_wait: 8h}}
    - {instance_type: ml.g6.2xlarge, count: 2}
    - {instance_type: ml.m5.large, volume: 50GB}
checkpoints: s3://example-models/nightly/checkpoints/
"""


def compilation(text, head=HEAD):
    return compile_spec(in_memory_inputs(SourceText("job.yaml", head + text)))


def requests(compiled):
    assert isinstance(compiled, Compiled), compiled.diagnostics
    return [request.payload for request in compiled.plan.requests]


def reported(text, head=HEAD):
    return [
        (d.code, d.span.line, d.message, [note.message for note in d.notes])
        for d in compilation(text, head).diagnostics
    ]


def test_each_alternative_has_a_request():
    first, second, third = requests(compilation(THREE))
    assert [r["ResourceConfig"]["InstanceType"] for r in (first, second, third)] == [
        "ml.g5.2xlarge", "ml.g6.2xlarge", "ml.m5.large",
    ]  # fmt: skip
    assert [r["ResourceConfig"]["InstanceCount"] for r in (first, second, third)] == [1, 2, 1]
    assert [r.get("EnableManagedSpotTraining") for r in (first, second, third)] == [True, None, None]
    assert [r["StoppingCondition"].get("MaxWaitTimeInSeconds") for r in (first, second, third)] == [28800, None, None]
    assert len({r["TrainingJobName"] for r in (first, second, third)}) == 3


def test_alternative_is_the_job_without_any_of():
    """So its name stays when the only alternative becomes the hosts of the job."""
    alone = "hosts: {count: 2, instance_type: ml.g6.2xlarge}\n" + THREE.splitlines()[-1]
    assert requests(compilation(alone)) == requests(compilation(THREE))[1:2]
    assert requests(compilation("hosts: {any_of: [{count: 2, instance_type: ml.m5.large, volume: 9GB}]}")) == requests(
        compilation("hosts: {count: 2, instance_type: ml.m5.large, volume: 9GB}")
    )


def test_spot_of_the_job_is_that_of_every_alternative():
    text = THREE + "spot: {max_wait: 9h}\n"
    waits = [r["StoppingCondition"]["MaxWaitTimeInSeconds"] for r in requests(compilation(text))]
    assert waits == [8 * 3600, 9 * 3600, 9 * 3600]


@pytest.mark.parametrize(
    ("hosts", "found"),
    [
        (
            "any_of: [{instance_type: ml.m5.large, count: 1, volume: 9GB}, {instance_type: ml.m5.large, count: 1}]",
            ("SM457", "hosts.any_of[1]"),
        ),
        ("count: 1, any_of: [{instance_type: ml.g6.2xlarge}, {}]", ("SM426", "hosts.any_of[1]")),
        ("any_of: [{instance_type: ml.g6.2xlarge}]", ("SM427", "hosts.any_of[0]")),
        ("count: 1, any_of: [{instance_type: ml.g6.2xlarge}, {instance_type: ml.g6.9xlarge}]", ("SM483", "[1]")),
        (
            "count: 1, keep_alive: 30m, any_of: [{instance_type: ml.g6.2xlarge}, "
            "{instance_type: ml.g5.2xlarge, spot: {max_wait: 8h}}]",
            ("SM459", "hosts.any_of[1]"),
        ),
        (
            "groups: [{name: a, instance_type: ml.g6.2xlarge, count: 1}], any_of: [{instance_type: ml.g5.2xlarge}]",
            ("SM425", "hosts.any_of[0]"),
        ),
    ],
)
def test_fault_of_an_alternative_names_it(hosts, found):
    code, place = found
    here = [
        d
        for d in compilation(f"hosts: {{{hosts}}}\ncheckpoints: s3://example-models/c/\n").diagnostics
        if d.code == code
    ]
    assert here, reported(f"hosts: {{{hosts}}}\n")
    shown = [".".join(map(str, d.path)) + d.message + "".join(note.message for note in d.notes) for d in here]
    assert any(place in each or place.replace("[", ".").replace("]", "") in each for each in shown), shown


def test_spot_alternative_without_checkpoints_is_reported_there():
    text = THREE.replace(THREE.splitlines()[-1], "")
    ((code, line, _, _),) = reported(text)
    assert (code, line) == ("SM354", 11)


def test_launcher_is_judged_with_each_type(tmp_path):
    """`torchrun` with 4 processes fits some types only."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src/train.py").write_text("print(1)\n")
    text = HEAD + THREE.replace("ml.m5.large, volume: 50GB", "ml.g5.12xlarge")
    text += "distribution: {torchrun: {processes_per_host: 4}}\nentry_point: train.py\nsource: src/\n"
    (tmp_path / "job.yaml").write_text(text)
    found = [d for d in compile_spec(gather(str(tmp_path / "job.yaml"))).diagnostics if d.code == "SM389"]
    assert [str(note) for each in found for note in each.notes] == [
        "only with `hosts.any_of[0]`",
        "only with `hosts.any_of[1]`",
    ]


def test_finding_about_all_alternatives_names_none():
    assert [notes for *_, notes in reported(THREE, HEAD.replace("s3://example-models/n", "s3://_/n"))] == [[]]


@pytest.mark.parametrize("key", ["instance_type: ml.m5.large", "count: 3", "volume: 9GB"])
def test_key_that_every_alternative_sets_is_rejected(key):
    """An overlay that sets the hosts of a spec with alternatives would otherwise change nothing."""
    all_set = "any_of: [{instance_type: ml.m5.xlarge, count: 1, volume: 8GB}]"
    assert [code for code, *_ in reported(f"hosts: {{{key}, {all_set}}}")] == ["SM209"]


@pytest.mark.parametrize(
    ("hosts", "code"),
    [
        ("any_of: []", "SM207"),
        (f"count: 1, any_of: [{', '.join(['{instance_type: ml.g5.2xlarge}'] * 9)}]", "SM207"),
        ("any_of: {instance_type: ml.g5.2xlarge}", "SM203"),
        ("any_of: [{instance_typ: ml.g5.2xlarge}]", "SM204"),
        ("count: 1, any_of: [{groups: []}]", "SM204"),
        ("any_of: [{instance_type: ml.g5.2xlarge, count: 0}]", "SM207"),
    ],
)
def test_malformed_alternatives_are_rejected(hosts, code):
    assert code in [found for found, *_ in reported(f"hosts: {{{hosts}}}")]


@pytest.mark.parametrize("name", ["job_name: mine", "api: {TrainingJobName: mine}"])
def test_fixed_name_allows_one_alternative(name):
    one = "hosts: {any_of: [{instance_type: ml.g6.2xlarge, count: 1}]}\n"
    two = "hosts: {count: 1, any_of: [{instance_type: ml.g6.2xlarge}, {instance_type: ml.g5.2xlarge}]}\n"
    assert reported(one + name) == []
    assert [code for code, *_ in reported(two + name)] == ["SM419"]


def test_type_set_by_a_patch_makes_alternatives_equal():
    two = "hosts: {count: 1, any_of: [{instance_type: ml.g6.2xlarge}, {instance_type: ml.g5.2xlarge}]}\n"
    assert "SM419" in [code for code, *_ in reported(two + "api: {ResourceConfig: {InstanceType: ml.g5.xlarge}}\n")]


def test_ignored_check_may_concern_one_alternative():
    text = THREE.replace(THREE.splitlines()[-1], "")
    ignored = 'checks: {ignore: [{rule: SM354, at: "hosts.any_of[0]", because: it is short}]}\n'
    assert reported(text + ignored) == []


def test_cost_is_that_of_the_dearest_alternative():
    compiled = compilation(THREE)
    assert compiled.cost.seconds == 2 * 6 * 3600  # two hosts for 6 h, above one for 8 h
    assert compiled.inputs.prices == PriceBook()


def test_facts_have_the_names_of_all_alternatives():
    compiled = compilation(THREE)
    names = [request["TrainingJobName"] for request in requests(compiled)]
    assert [compiled.facts.job_name.text, *compiled.facts.alternatives] == names


def test_spec_without_alternatives_has_none():
    assert alternatives(job_samples.document(job_samples.spec())) == ()


def test_default_type_does_not_apply_to_alternatives(tmp_path):
    """Otherwise each spec with alternatives would have a type that all of them replace."""
    (tmp_path / "smspec.toml").write_text(
        '[defaults]\nhosts = {instance_type = "ml.m5.large", count = 1, volume = 9}\n'
    )
    (tmp_path / "job.yaml").write_text(HEAD + THREE.replace(", volume: 50GB", ""))
    sent = requests(compile_spec(gather(str(tmp_path / "job.yaml"))))
    assert [request["ResourceConfig"]["VolumeSizeInGB"] for request in sent] == [9, 9, 9]


def test_policy_judges_every_alternative(tmp_path):
    (tmp_path / "smspec.toml").write_text('allowed_instance_families = ["g5", "m5"]\n')
    (tmp_path / "job.yaml").write_text(HEAD + THREE)
    (found,) = compile_spec(gather(str(tmp_path / "job.yaml"))).diagnostics
    assert (found.code, found.path) == ("SM741", ("hosts", "any_of", 1, "instance_type"))


@pytest.mark.parametrize(("overlays", "faults"), [(40, 0), (400, 1)])
def test_alternatives_count_in_the_limit_of_overlays(overlays, faults):
    """Each overlay is checked with each alternative."""
    items = ", ".join(f"{{instance_type: ml.g5.2xlarge, count: {number}}}" for number in range(1, 9))
    text = f"hosts: {{any_of: [{items}]}}\noverlays:\n"
    text += "".join(f"  o{number}: {{retries: 1}}\n" for number in range(overlays))
    found = [d for d in compilation_of_file(text).faults if "`overlays` is too large" in d.message]
    assert len(found) == faults


def compilation_of_file(text):
    return Assembly([read(SourceText("job.yaml", HEAD + text))]).merged()


@pytest.mark.parametrize(
    ("overlay", "types"),
    [
        (None, ["ml.g4dn.xlarge", "ml.g6.2xlarge"]),
        ("plain", ["ml.m5.large"]),
        ("other", ["ml.m5.xlarge"]),
    ],
)
def test_overlays_and_variables_change_alternatives(tmp_path, overlay, types):
    (tmp_path / "base.yaml").write_text(
        "smspec: v1\nvars: {kind: {default: ml.g5.2xlarge}}\nhosts: {count: 1, any_of: "
        "[{instance_type: '${{ vars.kind }}'}, {instance_type: ml.g6.2xlarge}]}\n"
    )
    (tmp_path / "job.yaml").write_text(
        HEAD + "extends: [base.yaml]\noverlays:\n"
        "  plain: {hosts: {any_of: null, instance_type: ml.m5.large, volume: 9GB}}\n"
        "  other: {hosts: {any_of: [{instance_type: ml.m5.xlarge, volume: 9GB}]}}\n"
    )
    sent = requests(compile_spec(gather(str(tmp_path / "job.yaml"), overlay, {"kind": "ml.g4dn.xlarge"})))
    assert [request["ResourceConfig"]["InstanceType"] for request in sent] == types
