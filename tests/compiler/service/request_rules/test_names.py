"""Tags, environment variables and experiments."""

from support.service.api_samples import changed
from support.service.request_cases import request_tests


def tagged(*keys):
    return changed(Tags=[{"Key": key, "Value": "x"} for key in keys])


def told(name):
    return changed(Environment={name: "x"})


REPORTED = [
    (tagged("a", "a"), "SM429", ("Tags", 1, "Key")),
    (tagged("team", "aws:team"), "SM476", ("Tags", 1, "Key")),
    (tagged("AWS:team"), "SM476", ("Tags", 0, "Key")),
    (changed(ExperimentConfig={"RunName": "first"}), "SM369", ("ExperimentConfig", "ExperimentName")),
    *(
        (told(name), "SM370", ("Environment", name))
        for name in ("TRAINING_JOB_NAME", "TRAINING_JOB_ARN", "AWS_REGION", "SM_HOSTS", "SM_MODEL_DIR")
    ),
]

ACCEPTED = [
    tagged("a", "A"),
    tagged("awesome", "team:aws:"),
    changed(ExperimentConfig={"RunName": "first", "ExperimentName": "clicks"}),
    changed(ExperimentConfig={"TrialName": "first"}),
    told("AWS_DEFAULT_REGION"),
    told("SMDEBUG"),
    told("NCCL_DEBUG"),
]

test_fault_is_reported_at_its_path, test_similar_request_is_accepted = request_tests(REPORTED, ACCEPTED)
