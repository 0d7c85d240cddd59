"""Meaning of changes: layers, files, data shares, checkpoints, secrets, and cost."""

from fractions import Fraction

import pytest

from smspec.diagnostics.quoting import HIDDEN
from smspec.review.job_review import added_changes, compared, job_review, verdict
from smspec.service.cost_ceiling import ceiling_of
from smspec.service.job_costs import PriceBook
from support.review.job_reviews import one, version
from support.spec import job_samples

CHECKPOINTS = {"s3": "s3://example-models/c/"}
IN_MANAGER = "arn:aws:secretsmanager:us-west-2:111122223333:secret:"
IN_STORE = {"HF_TOKEN": "arn:aws:ssm:us-west-2:111122223333:parameter/hub"}
SHARDED = {"train": {"s3": "s3://example-data/train/", "distribution": "ShardedByS3Key"}}


def hosts(count, instance_type="ml.c5.xlarge", **more):
    return {"instance_type": instance_type, "count": count, "volume": "50GB", **more}


def changes(old, new, prices=None):
    return compared(version(**old), version(**new), PriceBook(own=prices or {}))


def of(found, kind):
    return [change for change in found if change.kind == kind]


def test_verdict_names_layers_and_the_ceiling():
    image = {"base": "python:3.12-slim-bookworm"}
    found = changes(
        {"image": image, "hosts": hosts(1)},
        {"image": {**image, "python_packages": ["numpy==2.1.0"]}, "hosts": hosts(4)},
    )
    assert verdict(found) == (
        "rebuilds the image (python packages), changes hosts (count), +300 % cost ceiling (24 → 96 instance hours)"
    )


def test_replaced_package_is_one_change_at_its_line():
    image = {"base": "python:3.12-slim-bookworm", "python_packages": ["a==1", "b==1"]}
    change = one(changes({"image": image}, {"image": {**image, "python_packages": ["a==1", "b==2"]}}), "image")
    assert (change.path, change.old, change.new) == (("image", "python_packages", 1), "b==1", "b==2")
    assert (change.file, change.line) == ("job.yaml", 1)


def test_reordered_packages_rebuild_the_image():
    image = {"base": "python:3.12-slim-bookworm", "python_packages": ["a==1", "b==1"]}
    change = one(changes({"image": image}, {"image": {**image, "python_packages": ["b==1", "a==1"]}}), "image")
    assert change.what == "python packages, in another order: is rebuilt"


def test_image_files_change_code_and_layer():
    found = compared(version(None, "train.py", "old.py"), version(None, "train.py", "new.py"), PriceBook())
    assert [change.what.partition(";")[0] for change in of(found, "code")] == ["`new.py` is new", "`old.py` is gone"]
    assert one(found, "image").brief == "source"


def test_files_in_a_channel_need_no_new_image():
    source = {"dir": "src/", "delivery": "channel"}
    found = compared(
        version(None, "train.py", source=source), version(None, "train.py", "new.py", source=source), PriceBook()
    )
    assert [change.what for change in of(found, "code")] == [
        "`new.py` is new; travels in the channel `code`, without a new image"
    ]
    assert not of(found, "image")


def test_different_repository_is_the_same_image():
    image = {"base": "python:3.12-slim-bookworm"}
    found = changes({"image": image}, {"image": {**image, "repository": "elsewhere"}})
    assert verdict(found) == "keeps the image, in another repository"


def test_more_hosts_redistribute_sharded_data():
    found = changes({"channels": SHARDED, "hosts": hosts(2)}, {"channels": SHARDED, "hosts": hosts(4)})
    change = one(found, "data")
    assert (change.path, change.old, change.new) == (("channels", "train", "distribution"), "1/2", "1/4")


def test_more_hosts_leave_replicated_data_alone():
    assert not of(changes({"hosts": hosts(2)}, {"hosts": hosts(4)}), "data")


def test_group_size_changes_only_its_channels():
    def job(workers, others):
        groups = [("a", workers), ("b", others)]
        listed = [{"name": name, "instance_type": "ml.m5.large", "count": count} for name, count in groups]
        channels = {"train": {**SHARDED["train"], "instance_groups": ["a"]}}
        return {"channels": channels, "hosts": {"groups": listed, "volume": "50GB"}}

    assert not of(changes(job(2, 1), job(2, 5)), "data")
    assert one(changes(job(2, 1), job(3, 1)), "data").new == "1/3"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (CHECKPOINTS, {"s3": "s3://example-models/d/"}, "other checkpoints: training starts at zero"),
        (CHECKPOINTS, None, "checkpoints are no longer kept: training starts at zero"),
        (None, CHECKPOINTS, "checkpoints are kept now"),
    ],
)
def test_different_checkpoints_restart_the_training(old, new, said):
    change = one(changes({"checkpoints": old}, {"checkpoints": new}), "restart")
    assert change.what.startswith(said)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ({}, {"checkpoints": CHECKPOINTS}, "keeps checkpoints now"),
        ({"checkpoints": CHECKPOINTS}, {}, "starts from scratch (checkpoints)"),
        ({}, {"checkpoints": CHECKPOINTS, "name": "other"}, "starts from scratch (checkpoints, name)"),
    ],
)
def test_added_checkpoints_are_not_a_loss(old, new, said):
    assert verdict(of(changes(old, new), "restart")) == said


def test_unchanged_checkpoints_are_resumed():
    settings = ({"checkpoints": CHECKPOINTS, "hyperparameters": {"lr": lr}} for lr in (1, 2))
    assert one(changes(*settings), "resume").brief == "hyperparameters"


def test_longer_limit_with_other_settings_resumes_no_job():
    limits = ({"checkpoints": CHECKPOINTS, "stopping": {"max_runtime": time}} for time in ("1h", "2h"))
    assert not of(changes(*limits), "resume")


def test_unchanged_exact_name_is_reported():
    found = changes(
        {"job_name": "exact", "hyperparameters": {"a": 1}}, {"job_name": "exact", "hyperparameters": {"a": 2}}
    )
    assert "takes a name once" in one(found, "job").what


def test_changed_tag_is_the_same_job():
    assert not of(changes({"tags": {"team": "a"}}, {"tags": {"team": "b"}}), "job")


SECRET = "hunter2-very-secret-0815"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"environment": {"DB_PASSWORD": "changeme123"}}, {"environment": {"DB_PASSWORD": SECRET}}),
        ({}, {"environment": {"DB_PASSWORD": SECRET}}),
        ({}, {"hyperparameters": {"db_password": SECRET}}),
        ({}, {"image": {"base": "python:3.12-slim-bookworm", "env": {"DB_PASSWORD": SECRET}}}),
    ],
)
def test_changed_secret_is_reported_without_its_value(old, new):
    found = changes(old, new)
    assert any(change.brief == "secrets" for change in of(found, "security"))
    assert SECRET not in repr(found)
    assert HIDDEN in repr(found)


@pytest.mark.parametrize("length", [6, 9, 23])
@pytest.mark.parametrize(
    "job",
    [
        lambda secret: {"environment": {"DB": f"postgres://ads:{secret}@db.example/x"}},
        lambda secret: {"hyperparameters": {"note": f"as postgres://ads:{secret}@db.example/x says"}},
        lambda secret: {"channels": {"train": f"s3://example-data/postgres://ads:{secret}@db.example/x/"}},
    ],
)
def test_length_of_a_secret_is_hidden(job, length):
    change = next(c for c in changes(job("Kq7"), job("Kq7" * length)) if c.new is not None)
    assert HIDDEN in str(change.new)
    assert HIDDEN + "*" not in str(change.new)
    assert change.old == change.new


def test_different_registry_is_a_security_change():
    found = changes({"image": {"base": "python:3.12"}}, {"image": {"base": "ghcr.io/somebody/python:3.12"}})
    assert [(change.old, change.new) for change in of(found, "security")] == [("docker.io", "ghcr.io")]


def test_remote_debugging_is_a_security_change():
    found = changes({}, {"api": {"RemoteDebugConfig": {"EnableRemoteDebug": True}}})
    assert one(found, "security").path == ("api", "RemoteDebugConfig", "EnableRemoteDebug")


def ceiling(old, new, prices=None):
    return [change for change in changes(old, new, prices) if change.brief == "ceiling"]


def test_spot_includes_the_wait_and_warm_pools_their_time():
    spot = {
        "spot": {"max_wait": "30h"},
        "stopping": {"max_runtime": "24h"},
        "hosts": hosts(2, keep_alive="30m"),
        "retries": 3,
    }
    (change,) = ceiling({"hosts": hosts(2)}, spot)
    assert change.new["instance_hours"] == 61
    assert change.what == (
        "+27.1 % cost ceiling (48 → 61 instance hours); with spot: the wait for capacity is in it, "
        "30 min of keep-alive are in it, 3 retries within the same limit"
    )


def test_retries_share_the_limit():
    """API shape StoppingCondition: the limit is for all attempts in total."""
    assert ceiling({}, {"retries": 30}) == []


def test_instance_types_need_prices_to_be_compared():
    (change,) = ceiling({"hosts": hosts(1)}, {"hosts": hosts(1, "ml.p4d.24xlarge")})
    assert change.rise is None
    assert "on other instance types" in change.what


def test_prices_make_types_comparable():
    prices = {"ml.c5.xlarge": Fraction("0.204"), "ml.m5.large": Fraction("0.102")}
    (change,) = ceiling({"hosts": hosts(1)}, {"hosts": hosts(1, "ml.m5.large")}, prices)
    assert change.rise == -50
    assert change.what.startswith("−50 % cost ceiling (24 → 24 instance hours, $4.90 → $2.45, on other")


def test_api_key_is_reported_at_its_path():
    change = one(changes({}, {"api": {"ExperimentConfig": {"ExperimentName": "e"}}}), "other")
    assert change.path == ("api", "ExperimentConfig", "ExperimentName")


def test_removed_key_is_located_in_the_old_spec():
    change = one(changes({"tags": {"team": "a"}}, {}), "other")
    assert (change.old, change.new, change.file) == ({"Key": "team", "Value": "a"}, None, "job.yaml")


def test_same_job_has_no_differences():
    assert compared(version(job_samples.spec()), version(job_samples.spec()), PriceBook()) == ()


def test_new_job_begins_with_is_new():
    found = added_changes(version(hosts=hosts(1)), PriceBook())
    assert verdict(found) == "is new, changes security (role), cost ceiling (24 instance hours)"


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("member", ["KeepAlivePeriodInSeconds", "InstanceCount", "MaxRuntimeInSeconds"])
def test_absurd_number_has_no_cost_ceiling(member, sign):
    config = {"InstanceType": "ml.m5.large", "InstanceCount": 1, "KeepAlivePeriodInSeconds": 60}
    stopping = {"MaxRuntimeInSeconds": 3600}
    (stopping if member in stopping else config)[member] = sign * 10**400
    assert ceiling_of({"ResourceConfig": config, "StoppingCondition": stopping}, PriceBook(), None) is None


SCRIPT_IN_A_READY_IMAGE = {"image": job_samples.IMAGE_URI, "source": {"dir": "src/"}, "entry_point": "train.py"}


@pytest.mark.parametrize(
    ("changed", "kind", "path", "old", "new"),
    [
        ({"distribution": {"torchrun": {}}}, "hosts", ("distribution",), None, "torchrun"),
        ({"entry_point": {"script": "other.py"}}, "code", ("entry_point",), "train.py", "other.py"),
        ({"entry_point": {"script": "train.py", "args": ["-v"]}}, "code", ("entry_point",), [], ["-v"]),
        ({"entry_point": {"script": "train.py", "args_style": "json"}}, "code", ("entry_point",), "toolkit", "json"),
    ],
)
def test_entry_point_of_an_existing_image_is_compared(changed, kind, path, old, new):
    """It is delivered in a channel, under a digest without a meaning."""
    found = changes(SCRIPT_IN_A_READY_IMAGE, {**SCRIPT_IN_A_READY_IMAGE, **changed})
    change = one([change for change in found if change.kind != "job"], kind)
    assert (change.path, change.old, change.new) == (path, old, new)
    assert {change.kind for change in found} == {kind, "job"}


def test_entry_point_in_a_channel_has_a_separate_verdict():
    found = changes(SCRIPT_IN_A_READY_IMAGE, {**SCRIPT_IN_A_READY_IMAGE, "entry_point": {"script": "other.py"}})
    assert verdict(found) == "changes the entry point"


@pytest.mark.parametrize("changed", [{"name": "other"}, {"job_name": "exact"}])
def test_renamed_job_resumes_from_the_same_checkpoints(changed):
    same = {"checkpoints": CHECKPOINTS}
    assert not of(changes(same, {**same, **changed}), "restart")
    assert of(changes({}, changed), "restart")


def test_file_system_access_does_not_change_the_data():
    files = {"id": "fs-0123456789abcdef0", "type": "EFS", "path": "/a"}
    channels = [{"train": {"file_system": {**files, "access": access}}} for access in ("ro", "rw")]
    found = changes(*({"channels": channel} for channel in channels))
    assert of(found, "security")
    assert not of(found, "data")


def test_different_secret_is_a_security_change():
    """The ARNs are shown, because they are no secrets."""
    old, new = (
        {"secrets": {"DB_PASSWORD": f"{IN_MANAGER}{name}-AbCdEf", **more}}
        for name, more in (("a", {}), ("b", IN_STORE))
    )
    found = of(changes(old, new), "security")
    assert [(change.path, change.old, change.new, change.what) for change in found] == [
        (("secrets", "DB_PASSWORD"), f"{IN_MANAGER}a-AbCdEf", f"{IN_MANAGER}b-AbCdEf", "secret `DB_PASSWORD` changed"),
        (("secrets", "HF_TOKEN"), None, IN_STORE["HF_TOKEN"], "secret `HF_TOKEN` is new"),
    ]
    assert [change.what for change in of(changes(new, {}), "security")] == [
        "secret `DB_PASSWORD` is gone",
        "secret `HF_TOKEN` is gone",
    ]


def test_other_source_of_a_build_secret_is_of_security():
    """No layer has the place, and the commands of the build read what is there."""
    image = {"base": "python:3.12-slim-bookworm"}
    old, new = (
        {"image": {**image, "secrets": {"TOKEN": token, **more}}}
        for token, more in (
            ({"env": "INDEX_TOKEN"}, {}),
            ({"env": "AWS_SECRET_ACCESS_KEY"}, {"KEY": {"file": "../../../../etc/shadow"}}),
        )
    )
    assert [(change.path, change.old, change.new, change.what) for change in of(changes(old, new), "security")] == [
        (
            ("image", "secrets", "TOKEN"),
            "the variable INDEX_TOKEN",
            "the variable AWS_SECRET_ACCESS_KEY",
            "secret of the build `TOKEN` changed",
        ),
        (("image", "secrets", "KEY"), None, "the file ../../../../etc/shadow", "secret of the build `KEY` is new"),
    ]
    assert [c.what for c in of(changes(new, {"image": image}), "security")] == [
        "secret of the build `TOKEN` is gone",
        "secret of the build `KEY` is gone",
    ]


def test_overlays_with_equal_masks_keep_their_changes():
    names = [f"ghp_{letter * 36}" for letter in ("aB1", "aB2")]
    role = compared(version(), version(role="arn:aws:iam::111122223333:role/Admin"), PriceBook())
    review = job_review("j", "j.yaml", "j.yaml", "changed", {names[0]: role, names[1]: ()})
    assert [(each.change.kind, each.overlays) for each in review.reported if each.change.kind == "security"] == [
        ("security", (HIDDEN,))
    ]
    assert review.verdicts == ((HIDDEN, "changes security (role)"),)
