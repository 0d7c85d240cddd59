"""Tags, environment variables and experiments."""

from support.service.api_samples import changed
from support.service.request_cases import request_tests


def tagged(*keys):
    return changed(Tags=[{"Key": key, "Value": "x"} for key in keys])


def with_variable(name):
    return changed(Environment={name: "x"})


REPORTED = [
    (tagged("a", "a"), "SM429", ("Tags", 1, "Key")),
    (tagged("team", "aws:team"), "SM476", ("Tags", 1, "Key")),
    (tagged("AWS:team"), "SM476", ("Tags", 0, "Key")),
    (changed(ExperimentConfig={"RunName": "first"}), "SM369", ("ExperimentConfig", "ExperimentName")),
    *(
        (with_variable(name), "SM370", ("Environment", name))
        for name in ("TRAINING_JOB_NAME", "TRAINING_JOB_ARN", "AWS_REGION", "SM_HOSTS", "SM_MODEL_DIR")
    ),
]

ACCEPTED = [
    tagged("a", "A"),
    tagged("awesome", "team:aws:"),
    changed(ExperimentConfig={"RunName": "first", "ExperimentName": "clicks"}),
    changed(ExperimentConfig={"TrialName": "first"}),
    with_variable("AWS_DEFAULT_REGION"),
    with_variable("SMDEBUG"),
    with_variable("NCCL_DEBUG"),
]

test_fault_is_reported_at_its_path, test_similar_request_is_accepted = request_tests(REPORTED, ACCEPTED)
