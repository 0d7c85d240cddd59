"""Members that become keys, members that stay in `api`, and omitted defaults."""

import pytest

from smspec.importer.request_equality import differences
from smspec.source import SourceText, to_data
from smspec.spec.yaml import read
from support.service.api_samples import small_request
from support.service.imported_requests import changed_paths, imported

CHANNEL = {"ChannelName": "a", "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://bucket/a/"}}}


def spec_of(**members):
    request = {**small_request(), **members}
    written = imported({name: value for name, value in request.items() if value is not ...})
    assert changed_paths(written.text, written.request) == []
    return to_data(read(SourceText("job.yaml", written.text)).root)


@pytest.mark.parametrize(
    ("members", "keys"),
    [
        ({"StoppingCondition": {"MaxRuntimeInSeconds": 86400}}, {}),
        ({"StoppingCondition": {}}, {"stopping": {}}),
        ({"StoppingCondition": {"MaxRuntimeInSeconds": 3599}}, {"stopping": {"max_runtime": "3599s"}}),
        ({"StoppingCondition": {"MaxRuntimeInSeconds": 172800}}, {"stopping": {"max_runtime": "2d"}}),
        (
            {"StoppingCondition": {"MaxRuntimeInSeconds": 86400, "MaxPendingTimeInSeconds": 7200}},
            {"stopping": {"max_runtime": "1d", "max_pending": "2h"}},
        ),
        (
            {"StoppingCondition": {"MaxWaitTimeInSeconds": 60}, "EnableManagedSpotTraining": True},
            {"stopping": {}, "spot": {"max_wait": "1m"}},
        ),
        (
            {"StoppingCondition": {"MaxWaitTimeInSeconds": 60}, "EnableManagedSpotTraining": False},
            {
                "stopping": {},
                "api": {"StoppingCondition": {"MaxWaitTimeInSeconds": 60}, "EnableManagedSpotTraining": False},
            },
        ),
        (
            {"StoppingCondition": ..., "EnableManagedSpotTraining": True},
            {"spot": {}, "api": {"StoppingCondition": None}},
        ),
    ],
)
def test_times_get_their_largest_unit(members, keys):
    spec = spec_of(**members)
    assert {key: spec[key] for key in ("stopping", "spot", "api") if key in spec} == keys


def test_channel_is_imported_in_its_shortest_form():
    assert spec_of(InputDataConfig=[CHANNEL])["channels"] == {"a": "s3://bucket/a/"}


def test_api_only_values_go_to_api():
    source = {"S3DataSource": {"S3DataType": "Converse", "S3Uri": "s3://bucket/a/"}}
    assert spec_of(InputDataConfig=[{"ChannelName": "a", "DataSource": source}])["channels"] == {
        "a": {"s3": "s3://bucket/a/", "api": {"DataSource": {"S3DataSource": {"S3DataType": "Converse"}}}}
    }


def test_channel_with_another_source_is_patched():
    source = {"DatasetSource": {"DatasetArn": "arn:aws:sagemaker:us-west-2:aws:hub-content/Hub/DataSet/a"}}
    spec = spec_of(InputDataConfig=[{"ChannelName": "a", "DataSource": source}])
    assert spec["channels"] == {"a": {"api": {"DataSource": source}}}


@pytest.mark.parametrize("channels", [[], [CHANNEL, CHANNEL], [{**CHANNEL, "ChannelName": 5}], ["a"], "a"])
def test_channels_that_cannot_be_keys_stay_a_list(channels):
    spec = spec_of(InputDataConfig=channels)
    assert "channels" not in spec
    assert spec["api"] == {"InputDataConfig": channels}


def test_mixed_input_modes_stay_in_their_channels():
    fast, plain = {**CHANNEL, "InputMode": "FastFile"}, {**CHANNEL, "ChannelName": "b", "InputMode": "File"}
    spec = spec_of(InputDataConfig=[fast, plain])
    assert "input_mode" not in spec
    assert [channel["input_mode"] for channel in spec["channels"].values()] == ["FastFile", "File"]


@pytest.mark.parametrize(
    "tags",
    [
        [{"Key": "a", "Value": "1"}, {"Key": "a", "Value": "2"}],
        [{"Key": "a"}],
        [{"Key": "a", "Value": "1", "More": "2"}],
        [{"Key": "a", "Value": 1}],
        [],
    ],
)
def test_tags_that_cannot_be_a_mapping_stay_a_list(tags):
    assert spec_of(Tags=tags)["api"] == {"Tags": tags}


def test_tags_keep_their_order():
    tags = [{"Key": "b", "Value": "0042"}, {"Key": "a", "Value": ""}]
    assert list(spec_of(Tags=tags)["tags"].items()) == [("b", "0042"), ("a", "")]


def test_tags_of_smspec_are_left_to_submit():
    own = [{"Key": f"smspec:{name}", "Value": "x"} for name in ("digest", "run-id")]
    spec = spec_of(Tags=[own[0], {"Key": "team", "Value": "ads"}, own[1]])
    assert spec["tags"] == {"team": "ads"}
    spec = spec_of(Tags=own)
    assert "tags" not in spec and "api" not in spec


def test_command_with_a_script_parameter_stays_in_api():
    algorithm = {**small_request()["AlgorithmSpecification"], "ContainerEntrypoint": ["train"]}
    assert spec_of(AlgorithmSpecification=algorithm)["entry_point"] == {"command": ["train"]}
    spec = spec_of(AlgorithmSpecification=algorithm, HyperParameters={"sagemaker_program": "train.py"})
    assert "entry_point" not in spec
    assert spec["api"] == {"AlgorithmSpecification": {"ContainerEntrypoint": ["train"]}}


def test_built_in_algorithm_needs_no_image():
    algorithm = {"AlgorithmName": "k-means", "TrainingInputMode": "Pipe"}
    spec = spec_of(AlgorithmSpecification=algorithm)
    assert (spec["input_mode"], "image" in spec) == ("Pipe", False)
    assert spec["api"] == {"AlgorithmSpecification": {"AlgorithmName": "k-means"}}


@pytest.mark.parametrize("algorithm", [..., {"AlgorithmName": "k-means", "TrainingInputMode": "File"}])
def test_serverless_job_gets_no_default_input_mode(algorithm):
    serverless = {"BaseModelArn": "arn:aws:sagemaker:us-west-2:aws:hub-content/Hub/Model/a", "JobType": "FineTuning"}
    spec = spec_of(
        ServerlessJobConfig=serverless, AlgorithmSpecification=algorithm, ResourceConfig=..., StoppingCondition=...
    )
    kept = {} if algorithm is ... else {"AlgorithmSpecification": algorithm}
    assert spec["api"] == {**kept, "ServerlessJobConfig": serverless, "StoppingCondition": None}


@pytest.mark.parametrize(
    ("one", "other", "paths"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": True}, [("a",)]),
        ({"a": 1}, {"a": 1.0}, [("a",)]),
        ({"a": 1}, {"b": 1}, [("a",), ("b",)]),
        ({"a": {}}, {"a": None}, [("a",)]),
        ({"a": [1, 2]}, {"a": [1, 3]}, [("a", 1)]),
        ({"a": [1, 2]}, {"a": [1]}, [("a",)]),
        ({"a": {"b": "x", "c": "y"}}, {"a": {"c": "y", "b": "z"}}, [("a", "b")]),
    ],
)
def test_request_differences_compare_as_json(one, other, paths):
    assert list(differences(one, other)) == paths
