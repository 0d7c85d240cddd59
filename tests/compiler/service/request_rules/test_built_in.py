"""The built-in algorithms: channels, data, instances, and hyperparameters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smspec.service.facts import table
from smspec.service.facts.accounts import registry
from smspec.service.facts.algorithms import algorithm, algorithm_modes
from smspec.service.request_rules import _ALGORITHMS, BUILT_IN_ALGORITHM, FAMILIES, request_findings
from support.service.api_samples import changed
from support.service.request_cases import request_tests

REGISTRIES = {row["repository"]: registry(row["accounts"], "us-west-2") for row in table("images").rows()}
FRAMEWORKS = "763104351884.dkr.ecr.us-west-2.amazonaws.com"
XGBOOST_ACCOUNT = "246618743249.dkr.ecr.us-west-2.amazonaws.com"
IMAGE, CHANNELS, HOSTS = "AlgorithmSpecification", "InputDataConfig", "ResourceConfig"
NAMES = [row["repository"] for row in table("algorithms").rows()]
PLACES = {
    "autogluon": "autogluon/transfer_learning/classification/v1.0.2",
    "catboost": "catboost/transfer_learning/classification/v1.0.0",
    "lightgbm": "lightgbm/transfer_learning/classification/v1.0.0",
    "tabtransformer": "pytorch/transfer_learning/tabtransformerclassification/v1.0.0",
}


def script_of(name, bucket="jumpstart-cache-prod-us-west-2"):
    """Return the hyperparameters that start a script of AWS."""
    directory = f"s3://{bucket}/source-directory-tarballs/{PLACES[name]}/sourcedir.tar.gz"
    return {"sagemaker_program": "transfer_learning.py", "sagemaker_submit_directory": directory}


def image_of(name):
    return f"{REGISTRIES[name]}/{name}:1" if name not in PLACES else f"{FRAMEWORKS}/pytorch-training:2.5.1-cpu-py311"


def channel(name="train", content_type=None, distribution=None, data_type="S3Prefix", uri="s3://example-data/a/"):
    source = {"S3DataType": data_type, "S3Uri": uri}
    if distribution:
        source["S3DataDistributionType"] = distribution
    if data_type == "AugmentedManifestFile":
        source["AttributeNames"] = ["source-ref"]
    made = {"ChannelName": name, "DataSource": {"S3DataSource": source}}
    if data_type == "AugmentedManifestFile":
        made["RecordWrapperType"] = "RecordIO"
    return made | ({"ContentType": content_type} if content_type else {})


def hosts(kind="ml.m5.large", count=1):
    return {"InstanceType": kind, "InstanceCount": count} | ({"VolumeSizeInGB": 5} if kind == "ml.m5.large" else {})


SETTINGS = {
    "kmeans": {"k": "10", "feature_dim": "784"},
    "lda": {"num_topics": "3", "feature_dim": "9", "mini_batch_size": "100"},
    "randomcutforest": {"feature_dim": "9"},
    "linear-learner": {"predictor_type": "regressor"},
    "xgboost": {"num_round": "10"},
    "seq2seq": {},
    "object2vec": {"enc0_max_seq_len": "9", "enc0_vocab_size": "99"},
    "image-classification": {"num_classes": "2", "num_training_samples": "9"},
    "semantic-segmentation": {"num_classes": "2", "num_training_samples": "9"},
    "factorization-machines": {"feature_dim": "784", "num_factors": "10", "predictor_type": "regressor"},
    "blazingtext": {"mode": "supervised"},
    **{name: script_of(name) for name in PLACES},
}
NEEDED = {
    "image-classification": ("train", "validation"),
    "semantic-segmentation": ("train", "validation", "train_annotation", "validation_annotation"),
    "seq2seq": ("train", "validation", "vocab"),
}
READS = {"autogluon": ("training",), "catboost": ("training", "validation"), "tabtransformer": ("training", "model")}
GPU = hosts("ml.p3.2xlarge") | {"VolumeSizeInGB": 5}


def job(name, *channels, image=None, mode="File", **more):
    """Return a request for an algorithm with what it requires; ``more`` are hyperparameters, None removes one."""
    parts = {key: more.pop(key) for key in (HOSTS,) if key in more}
    values = {key: value for key, value in (SETTINGS[name] | more).items() if value is not None}
    if name in NEEDED and HOSTS not in parts:
        parts[HOSTS] = GPU
    return changed(
        AlgorithmSpecification={"TrainingImage": image or image_of(name), "TrainingInputMode": mode},
        InputDataConfig=list(channels) or [channel(each) for each in {**NEEDED, **READS}.get(name, ("train",))],
        HyperParameters=values,
        **parts,
    )


def word2vec(mode, *channels, **more):
    """Return a request for BlazingText in one of its modes."""
    request = job("blazingtext", *channels, **more)
    return request | {"HyperParameters": request["HyperParameters"] | {"mode": mode}}


CSV = channel(content_type="text/csv")
SHARDED = channel(distribution="ShardedByS3Key")
HP = "HyperParameters"

REPORTED = [
    (job("kmeans", channel("training")), "SM492", (CHANNELS, 0, "ChannelName")),
    (job("kmeans", channel("Train")), "SM492", (CHANNELS, 0, "ChannelName")),
    (job("kmeans", channel("test")), "SM492", (CHANNELS,)),
    (job("image-classification", channel(), ResourceConfig=GPU), "SM492", (CHANNELS,)),
    (job("kmeans", channel(), channel("testing")), "SM395", (CHANNELS, 1, "ChannelName")),
    (job("xgboost", CSV, channel("valid", "text/csv")), "SM395", (CHANNELS, 1, "ChannelName")),
    (job("object2vec", mode="Pipe"), "SM493", (IMAGE, "TrainingInputMode")),
    (job("object2vec", channel() | {"InputMode": "Pipe"}), "SM493", (CHANNELS, 0, "InputMode")),
    (job("lda", ResourceConfig=hosts(count=2)), "SM494", (HOSTS, "InstanceCount")),
    (job("seq2seq", ResourceConfig=hosts()), "SM495", (HOSTS, "InstanceType")),
    (job("semantic-segmentation", ResourceConfig=hosts()), "SM495", (HOSTS, "InstanceType")),
    (job("lda", ResourceConfig=GPU), "SM396", (HOSTS, "InstanceType")),
    (job("randomcutforest", SHARDED, ResourceConfig=hosts("ml.g5.xlarge")), "SM396", (HOSTS, "InstanceType")),
    (
        job("randomcutforest"),
        "SM496",
        (CHANNELS, 0, "DataSource", "S3DataSource", "S3DataDistributionType"),
    ),
    (
        job("randomcutforest", channel(distribution="FullyReplicated")),
        "SM496",
        (CHANNELS, 0, "DataSource", "S3DataSource", "S3DataDistributionType"),
    ),
    (job("kmeans", k=None), "SM497", (HP, "k")),
    (job("blazingtext", subwords="True"), "SM499", (HP, "subwords")),
    (word2vec("cbow", word_ngrams="2"), "SM499", (HP, "word_ngrams")),
    (word2vec("cbow", channel(), channel("validation")), "SM499", (CHANNELS, 1, "ChannelName")),
    (job("blazingtext", ResourceConfig=hosts(count=2)), "SM499", (HOSTS, "InstanceCount")),
    (word2vec("batch_skipgram", ResourceConfig=GPU), "SM499", (HOSTS, "InstanceType")),
    (job("xgboost", CSV, num_round=None), "SM497", (HP, "num_round")),
    (
        job("xgboost", CSV, image=f"{XGBOOST_ACCOUNT}/sagemaker-xgboost:1.5-1", num_round=None),
        "SM497",
        (HP, "num_round"),
    ),
    (job("kmeans", k="0"), "SM498", (HP, "k")),
    (job("kmeans", k="-3.5"), "SM498", (HP, "k")),
    (job("object2vec", epochs="101"), "SM498", (HP, "epochs")),
    (job("kmeans", k="1"), "SM399", (HP, "k")),
    (job("linear-learner", num_classes="2"), "SM399", (HP, "num_classes")),
    (job("xgboost", CSV, eta="2"), "SM399", (HP, "eta")),
    (job("kmeans", mini_batch="5"), "SM414", (HP, "mini_batch")),
    (job("xgboost", CSV, max_dept="5"), "SM414", (HP, "max_dept")),
    (job("xgboost", CSV, objective='"reg:squarederror"'), "SM415", (HP, "objective")),
    (job("linear-learner", predictor_type="binary_classifer"), "SM417", (HP, "predictor_type")),
    (job("xgboost", channel()), "SM397", (CHANNELS, 0, "ContentType")),
    (job("kmeans", channel(content_type="application/json")), "SM398", (CHANNELS, 0, "ContentType")),
    (job("linear-learner", channel(content_type="csv;label_size=0")), "SM398", (CHANNELS, 0, "ContentType")),
    (job("catboost", channel("train")), "SM492", (CHANNELS, 0, "ChannelName")),
    (job("autogluon", channel("data")), "SM492", (CHANNELS,)),
    (job("lightgbm", channel("train"), channel("valid")), "SM395", (CHANNELS, 1, "ChannelName")),
    (job("lightgbm", ResourceConfig=GPU), "SM396", (HOSTS, "InstanceType")),
    (job("tabtransformer", ResourceConfig=hosts(count=2)), "SM494", (HOSTS, "InstanceCount")),
    (job("lightgbm", learning_rate='"5"'), "SM399", (HP, "learning_rate")),
    (job("catboost", depth="17"), "SM399", (HP, "depth")),
    (job("lightgbm", num_boost_rounds="5"), "SM414", (HP, "num_boost_rounds")),
    (
        job("lightgbm", **script_of("lightgbm", "jumpstart-cache-prod-cn-north-1"), num_leavs="5"),
        "SM414",
        (HP, "num_leavs"),
    ),
    (job("catboost", grow_policy='"Lossgiude"'), "SM417", (HP, "grow_policy")),
]

SCRIPT = {"sagemaker_program": "train.py", "anything": "0"}


def augmented(name):
    return channel(name, "application/x-image", data_type="AugmentedManifestFile", uri="s3://example-data/a.manifest")


ACCEPTED = [
    *(job(name) for name in SETTINGS if name not in ("randomcutforest", "xgboost")),
    job("xgboost", CSV, channel("validation", "libsvm")),
    job("xgboost", channel(uri="s3://example-data/a.libsvm")),
    job("xgboost", channel(content_type="TEXT/CSV; label_size=0")),
    job("xgboost", CSV, channel("code")),
    job("randomcutforest", SHARDED),
    job("randomcutforest", channel(content_type="text/csv;label_size=0", distribution="ShardedByS3Key")),
    job("kmeans", channel(content_type="text/csv;label_size=0")),
    job("kmeans", ResourceConfig=hosts(count=2)),
    job("blazingtext", channel(), channel("validation"), word_ngrams="2", patience="3"),
    job("blazingtext", ResourceConfig=GPU),
    word2vec("skipgram", batch_size="11", subwords="True"),
    word2vec("batch_skipgram", ResourceConfig=hosts(count=4)),
    word2vec("other", word_ngrams="2", subwords="True", ResourceConfig=hosts(count=4)),
    job("kmeans", force_dense="True", extra_center_factor="auto", _tuning_objective_metric="msd"),
    job("kmeans", k="len"),
    job("xgboost", CSV, silent="0", monotone_constraints="(1,-1)", eval_metric="auc", reg_lambda="1"),
    job("xgboost", CSV, learning_rate="0.1", n_jobs="4", device="cuda", sampling_method="uniform"),
    job("linear-learner", use_bias="True", normalize_data="AUTO", beta_1="auto", loss="anything"),
    job("randomcutforest", SHARDED, eval_metrics='["accuracy"]'),
    job("kmeans", eval_metrics='["msd"]'),
    job("object2vec", comparator_list="hadamard, concat"),
    job("xgboost", CSV, image=f"{XGBOOST_ACCOUNT}/sagemaker-xgboost:1.5-1"),
    job("xgboost", channel("x"), image=f"{XGBOOST_ACCOUNT}/sagemaker-xgboost:1.5-1", num_round=None, **SCRIPT),
    job("kmeans", channel("x"), image="111122223333.dkr.ecr.us-west-2.amazonaws.com/kmeans:1", k=None),
    job("lightgbm", channel("training"), channel("model"), num_boost_round='"500"', metric='"auc"', new="1"),
    job("lightgbm", ResourceConfig=hosts(count=4)) | {"Environment": {"A": "b"}},
    job("lightgbm", channel("x"), **script_of("lightgbm", "jumpstart-cache"), num_leavs="5"),
    job("kmeans", channel("x"), image="registry.hub/kmeans:1", k=None)
    | {"VpcConfig": {"Subnets": ["subnet-0a"], "SecurityGroupIds": ["sg-0a"]}},
]
ACCEPTED[-1][IMAGE] |= {"TrainingImageConfig": {"TrainingRepositoryAccessMode": "Vpc"}}

test_fault_is_reported_at_its_path, test_similar_request_is_accepted = request_tests(REPORTED, ACCEPTED)


def test_annotations_may_be_in_augmented_manifests():
    request = job("semantic-segmentation", augmented("train"), augmented("validation"), mode="Pipe")
    assert request_findings(request) == []


def test_container_with_a_command_is_not_the_algorithm():
    request = job("kmeans", channel("x"), k=None)
    request[IMAGE] |= {"ContainerEntrypoint": ["python"]}
    assert request_findings(request) == []


def test_unknown_hosts_are_not_reported():
    """The table has no facts about this type, and SageMaker chooses one of the preferred types."""
    preferred = [{"InstanceType": "ml.m5.large"}, {"InstanceType": "ml.g5.xlarge"}]
    for kind in (
        {"InstanceType": "ml.p6e-gb200.36xlarge", "InstanceCount": 1},
        {"InstancePreferences": preferred, "VolumeSizeInGB": 5},
    ):
        assert request_findings(job("seq2seq", ResourceConfig=kind)) == []
        assert request_findings(job("lda", ResourceConfig=kind)) == []


def test_several_faults_of_one_job_are_all_reported():
    request = job("kmeans", channel("training", "application/json"), k=None, kk="10")
    found = {(finding.code, finding.label) for finding in request_findings(request)}
    assert found == {("SM492", "did you mean `train`?"), ("SM497", ""), ("SM414", "did you mean `k`?")}


def test_algorithms_of_the_tables_agree():
    assert {row["algorithm"] for row in table("algorithm_hyperparameters").rows()} == set(NAMES)
    assert {*NAMES, "sagemaker-xgboost"} == _ALGORITHMS | PLACES.keys()
    assert {name for name, triggers in FAMILIES.items() if BUILT_IN_ALGORITHM in triggers} == {
        name for name in FAMILIES if name.startswith("built_in")
    }


@pytest.mark.parametrize("name", NAMES)
def test_documented_values_are_accepted(name):
    """What the guide names is in each range of the guide, and no known name is a misspelled other one."""
    facts = algorithm(name)
    values = {row.name: row.words[0] if row.words else "word" for row in facts.hyperparameters}
    names = facts.channels
    for mode in algorithm_modes(name)[:1]:
        values = {known: value for known, value in values.items() if known in mode.hyperparameters}
        values["mode"], names = mode.name, mode.channels
    channels = [
        channel(known, facts.content_types[0] if facts.content_types else None, "ShardedByS3Key") for known in names
    ]
    on_gpus = "gpu" in facts.devices and not algorithm_modes(name)
    kind = hosts("ml.g5.xlarge") if on_gpus else hosts()
    request = changed(
        AlgorithmSpecification={"TrainingImage": image_of(name), "TrainingInputMode": "File"},
        InputDataConfig=channels,
        HyperParameters=values | (script_of(name) if name in PLACES else {}),
        ResourceConfig=kind,
    )
    assert {finding.code for finding in request_findings(request)} <= {"SM342"}


NUMBERS = st.one_of(
    st.floats().map(repr), st.integers().map(str), st.text(max_size=9), st.just("1e999"), st.just("+1_0")
)


@given(st.sampled_from(sorted(SETTINGS)), st.text(max_size=20), NUMBERS)
def test_any_hyperparameter_is_checked_without_an_exception(name, key, value):
    keys = [key, *(row.name for row in algorithm(name).hyperparameters)]
    for finding in request_findings(
        job(name, **{each: value for each in keys if each not in ("name", "mode", "image")})
    ):
        assert finding.message
