"""CheckpointConfig: the place of checkpoints."""

from support.service.api_samples import changed
from support.service.request_cases import request_tests

OUTPUT = "s3://example-models/sample/"
LOCAL = ("CheckpointConfig", "LocalPath")


def kept(local=None, s3="s3://example-models/checkpoints/"):
    return changed(CheckpointConfig={"S3Uri": s3} | ({} if local is None else {"LocalPath": local}))


REPORTED = [
    (kept("checkpoints"), "SM468", LOCAL),
    (kept("./opt/ml/checkpoints"), "SM468", LOCAL),
    *(
        (kept(local), "SM469", LOCAL)
        for local in (
            "/opt/ml/input",
            "/opt/ml/model/",
            "/opt/ml/output/checkpoints",
            "/opt/ml/code",
            "/opt/ml/checkpoints/../model",
            "//opt//ml/./model",
            *("/", "//", "/..", "/opt", "/opt/ml/", "/opt/ml/checkpoints/.."),
        )
    ),
    (kept(s3=OUTPUT), "SM355", ("CheckpointConfig", "S3Uri")),
    (kept(s3=OUTPUT.rstrip("/")), "SM355", ("CheckpointConfig", "S3Uri")),
]

ACCEPTED = [
    kept(),
    kept(""),
    kept("/opt/ml/checkpoints"),
    kept("/opt/ml/checkpoints/"),
    kept("/opt/ml/models"),
    kept("/somewhere/else"),
    kept("/op"),
    kept("/opt/m"),
    kept(s3=f"{OUTPUT}checkpoints/"),
]

test_fault_is_reported_at_its_path, test_similar_request_is_accepted = request_tests(REPORTED, ACCEPTED)
