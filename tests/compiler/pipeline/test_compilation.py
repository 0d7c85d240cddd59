"""From files to a result: all independent errors, at the lines of the author."""

import pytest

from smspec.diagnostics import InvalidInput
from smspec.pipeline.compilation import MOST_REPORTED, Compiled, Faulty, compile_spec
from smspec.pipeline.inputs import gather, gather_all
from support.small_job import BUILT, READY, write_job


def codes(outcome):
    return [diagnostic.code for diagnostic in outcome.diagnostics]


def test_valid_job_has_a_plan(tmp_path):
    outcome = compile_spec(gather(str(write_job(tmp_path))))
    assert isinstance(outcome, Compiled)
    assert outcome.plan.request.payload["ResourceConfig"]["InstanceCount"] == 1
    assert outcome.diagnostics == ()
    assert [text.name for text in outcome.texts] == [str(tmp_path / "job.yaml")]


def test_rule_limit_and_image_errors_are_reported_together(tmp_path):
    """They are independent, so one run reports all."""
    spec = BUILT.replace("train.py", "gone.py").replace('bookworm"}', 'bookworm", labels: {smspec.mine: x}}')
    spec += "retries: 99\n"
    outcome = compile_spec(gather(str(write_job(tmp_path, spec))))
    assert isinstance(outcome, Faulty)
    assert {"SM254", "SM310", "SM409"} <= set(codes(outcome))
    lines = [diagnostic.span.line for diagnostic in outcome.diagnostics]
    assert lines == sorted(lines)


def test_schema_and_file_errors_are_reported_together(tmp_path):
    outcome = compile_spec(gather(str(write_job(tmp_path, BUILT.replace("src/", "scr/") + "nme: x\n"))))
    assert codes(outcome) == ["SM143", "SM204"]


def test_api_errors_point_at_the_layer_that_sets_the_key(tmp_path):
    base = tmp_path / "base.yaml"
    base.write_text("smspec: v1\nenvironment:\n  GOOD: '1'\n  1BAD: '1'\n")
    outcome = compile_spec(gather(str(write_job(tmp_path, "extends: [base.yaml]\n" + READY))))
    (diagnostic,) = outcome.diagnostics
    assert (diagnostic.span.file, diagnostic.span.line) == (str(base), 4)
    assert diagnostic.path[:2] == ("environment", "1BAD")


def test_missing_source_is_not_also_a_missing_script(tmp_path):
    assert codes(compile_spec(gather(str(write_job(tmp_path, BUILT.replace("src/", "scr/")))))) == ["SM143"]


def test_impossible_file_names_are_reported_as_missing(tmp_path):
    for name in ("a\\0b", "x" * 5000, "job.yaml"):
        outcome = compile_spec(gather(str(write_job(tmp_path, BUILT.replace("src/", f'"{name}"')))))
        assert isinstance(outcome, Faulty)
        assert "SM143" in codes(outcome) or "SM2" in codes(outcome)[0]


@pytest.mark.parametrize(
    "spec",
    [
        BUILT.replace("src/", "linked/"),
        BUILT.replace('bookworm"', 'bookworm", python_requirements: linked'),
        f"extends: [linked]\n{BUILT}",
    ],
)
@pytest.mark.parametrize("target", ["gone", "linked"])
def test_dangling_link_is_reported(tmp_path, spec, target):
    """The link exists, so "no such file" would mislead."""
    (tmp_path / "linked").symlink_to(target)
    try:
        outcome = compile_spec(gather(str(write_job(tmp_path, spec))))
    except InvalidInput as rejected:
        outcome = rejected
    (said,) = [diagnostic for diagnostic in outcome.diagnostics if diagnostic.code in ("SM140", "SM143", "SM144")]
    assert said.message.endswith(f"is a link to `{target}`, which does not exist")
    assert said.label == ""


def test_every_overlay_is_gathered_with_one_disk_read(tmp_path, monkeypatch):
    spec = BUILT + "overlays: {dev: {hosts: {count: 2}}, other: {source: lib/}, bad: {retries: '${{ vars.gone }}'}}\n"
    write_job(tmp_path, spec, lib__train="")
    (tmp_path / "lib" / "train.py").write_text("")
    gathered = dict(gather_all(str(tmp_path / "job.yaml")))
    assert list(gathered) == [None, "dev", "other", "bad"]
    assert [fault.code for fault in gathered["bad"].faults] == ["SM125"]
    assert gathered[None].build_inputs.source is gathered["dev"].build_inputs.source
    assert [file.path for file in gathered["other"].build_inputs.source.files] == ["train", "train.py"]


def test_paths_are_relative_to_the_spec(tmp_path, monkeypatch):
    write_job(tmp_path / "specs" / "small")
    here = compile_spec(gather(str(tmp_path / "specs/small/job.yaml")))
    monkeypatch.chdir(tmp_path / "specs")
    there = compile_spec(gather("small/job.yaml"))
    monkeypatch.chdir(tmp_path / "specs" / "small")
    inside = compile_spec(gather("job.yaml"))
    assert here.plan == there.plan == inside.plan


def test_number_of_reported_errors_is_limited(tmp_path):
    """In bounded time, and an error is never crowded out by warnings."""
    spec = READY + "".join(f"key{number}: 1\n" for number in range(9000))
    outcome = compile_spec(gather(str(write_job(tmp_path, spec))))
    assert codes(outcome) == ["SM204"] * MOST_REPORTED
    assert outcome.diagnostics[0].span.line == READY.count("\n") + 1

    ignored = "".join(f"  - {{rule: SM4{number:04}, because: a test}}\n" for number in range(2 * MOST_REPORTED))
    outcome = compile_spec(gather(str(write_job(tmp_path, READY + f"retries: 99\nchecks:\n ignore:\n{ignored}"))))
    assert isinstance(outcome, Faulty)
    assert len(outcome.diagnostics) <= MOST_REPORTED


def test_inferred_request_rule_can_be_ignored(tmp_path):
    """A bucket from before the naming rules of S3 may have a name that they exclude."""
    spec = READY + "tensorboard: s3://Bucket_of_2016/\n"
    assert codes(compile_spec(gather(str(write_job(tmp_path, spec))))) == ["SM454"]
    spec += "checks: {ignore: [{rule: SM454, at: tensorboard, because: the bucket is from 2016}]}\n"
    outcome = compile_spec(gather(str(write_job(tmp_path, spec))))
    assert isinstance(outcome, Compiled)
    assert outcome.plan.request.payload["TensorBoardOutputConfig"] == {"S3OutputPath": "s3://Bucket_of_2016/"}
