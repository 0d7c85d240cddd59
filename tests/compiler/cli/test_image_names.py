"""Short names of AWS images in specs: what is sent and built, and what smspec.lock keeps."""

import json

import pytest

from smspec.plan import USUAL_BASES
from smspec.service.facts import accounts, images, parsed_table, table, table_path
from smspec.service.image_names import selected
from support.small_job import BUILT, READY, write_job
from support.smspec_command import smspec

NAME = "pytorch-training:2.5.1-gpu"
TAG = "2.5.1-gpu-py311-cu124-ubuntu22.04-sagemaker"
URI = f"763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:{TAG}"
DIGEST = "sha256:" + "a" * 64
IMAGE = READY.splitlines()[3]
HOSTS = READY.splitlines()[4]
GPU = "hosts: {instance_type: ml.g5.xlarge, count: 1}"


@pytest.fixture(autouse=True)
def without_credentials(monkeypatch, tmp_path):
    """Never ask ECR."""
    for name in ("AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))


@pytest.fixture
def later_table(monkeypatch):
    """Replace the table of images by a later one, in which the name means a different tag."""

    def change(old, new):
        with open(table_path("images"), encoding="utf-8") as file:
            text = file.read()
        assert old in text
        changed = parsed_table(text.replace(old, new).replace("# as of 2026", "# as of 2027", 1))
        forget()
        monkeypatch.setattr(images, "table", lambda _: changed)

    yield change
    monkeypatch.undo()
    forget()


def forget():
    for cached in (images.images_of, images.repositories, selected):
        cached.cache_clear()


def job(directory, image=NAME, hosts=GPU, region="us-west-2"):
    spec = READY.replace(IMAGE, f"image: {image}").replace(HOSTS, hosts)
    write_job(directory, spec + (f"region: {region}\n" if region else ""))


def request(directory, *words):
    done = smspec("render", "--api-json", *words, cwd=directory)
    assert done.status == 0, done.err
    return json.loads(done.out)


def image(directory, *words):
    return request(directory, *words)["AlgorithmSpecification"]["TrainingImage"]


def codes(directory, *words):
    return [found["code"] for found in json.loads(smspec("validate", "--format", "json", *words, cwd=directory).out)]


@pytest.mark.parametrize(
    "region, registry",
    [
        ("af-south-1", "626614931356.dkr.ecr.af-south-1.amazonaws.com"),
        ("cn-north-1", "727897471807.dkr.ecr.cn-north-1.amazonaws.com.cn"),
        ("us-gov-west-1", "442386744353.dkr.ecr.us-gov-west-1.amazonaws.com"),
    ],
)
def test_region_of_the_spec_determines_the_uri(tmp_path, region, registry):
    job(tmp_path, region=region)
    partition = {"c": "aws-cn", "u": "aws-us-gov"}.get(region[0], "aws")
    spec = (tmp_path / "job.yaml").read_text()
    (tmp_path / "job.yaml").write_text(spec.replace("arn:aws:iam", f"arn:{partition}:iam"))
    assert image(tmp_path) == f"{registry}/pytorch-training:{TAG}"


def test_origin_of_the_uri_is_the_key_image(tmp_path):
    job(tmp_path, hosts=HOSTS)
    (found,) = (
        found
        for found in json.loads(smspec("validate", "--format", "json", cwd=tmp_path).out)
        if found["code"] == "SM386"
    )
    assert found["path"] == "image" and found["message"].startswith("`image` is a GPU image")


def test_instances_of_an_overlay_determine_the_processor(tmp_path):
    job(tmp_path, "pytorch-training:2.5.1")
    spec = tmp_path / "job.yaml"
    spec.write_text(spec.read_text() + "overlays:\n  dev: {hosts: {instance_type: ml.m5.large, volume: 10GB}}\n")
    assert image(tmp_path) == URI
    assert "-cpu-py311-" in image(tmp_path, "-O", "dev")
    assert smspec("lock", cwd=tmp_path).status == 0
    locked = json.loads((tmp_path / "smspec.lock").read_text())["names"]
    assert [*locked] == [
        "pytorch-training:2.5.1 on cpu in us-west-2",
        "pytorch-training:2.5.1 on gpu in us-west-2",
    ]
    assert "-cpu-py311-" in image(tmp_path, "-O", "dev")


def test_name_outside_the_lock_is_a_warning(tmp_path):
    job(tmp_path)
    assert codes(tmp_path) == ["SM383"]
    assert smspec("lock", cwd=tmp_path).status == 0
    assert codes(tmp_path) == []
    job(tmp_path, region="us-east-1")
    assert codes(tmp_path) == ["SM383"]


def test_new_table_does_not_change_a_locked_job(tmp_path, later_table):
    job(tmp_path)
    assert smspec("lock", cwd=tmp_path).status == 0
    before = request(tmp_path)
    later_table("py311-cu124-ubuntu22.04-sagemaker", "py311-cu130-ubuntu24.04-sagemaker")
    assert request(tmp_path) == before
    assert smspec("lock", cwd=tmp_path).out == "" and request(tmp_path) == before
    (tmp_path / "smspec.lock").unlink()
    after = request(tmp_path)
    assert "cu130" in after["AlgorithmSpecification"]["TrainingImage"]
    assert after["TrainingJobName"] != before["TrainingJobName"]


def test_repository_removed_from_the_table_stays_locked(tmp_path, later_table):
    job(tmp_path)
    assert smspec("lock", cwd=tmp_path).status == 0
    before = request(tmp_path)
    later_table("\npytorch-training,", "\nretired,")
    assert request(tmp_path) == before


def test_update_expands_names_again(tmp_path, later_table):
    job(tmp_path)
    assert smspec("lock", cwd=tmp_path).status == 0
    later_table("py311-cu124-ubuntu22.04-sagemaker", "py311-cu130-ubuntu24.04-sagemaker")
    assert smspec("lock", "--update", cwd=tmp_path).status == 0
    lock = json.loads((tmp_path / "smspec.lock").read_text())
    assert lock["image_table"].startswith("2027")
    assert image(tmp_path) == lock["names"][f"{NAME} in us-west-2"] != URI


def test_locked_digest_replaces_the_tag(tmp_path):
    """SageMaker accepts a tag or a digest, and AWS publishes new builds under the same tag."""
    job(tmp_path, hosts=HOSTS)
    done = smspec("lock", "--digest", f"{URI}={DIGEST}", cwd=tmp_path)
    assert done.status == 0, done.err
    assert image(tmp_path) == f"{URI.rpartition(':')[0]}@{DIGEST}"
    assert codes(tmp_path) == ["SM386"]


def test_unreachable_registry_locks_the_tag(tmp_path):
    job(tmp_path)
    done = smspec("lock", cwd=tmp_path)
    assert done.status == 0 and "cannot get the digest" in done.err
    lock = json.loads((tmp_path / "smspec.lock").read_text())
    assert lock["names"] == {f"{NAME} in us-west-2": URI} and lock["images"] == {}
    assert lock["image_table"] == table("images").date


def test_base_image_may_be_a_name(tmp_path):
    write_job(tmp_path, BUILT.replace("python:3.12-slim-bookworm", NAME).replace(HOSTS, GPU))
    assert codes(tmp_path) == ["SM383"]
    assert f"FROM --platform=linux/amd64 {URI}\n" in smspec("render", "--dockerfile", cwd=tmp_path).out
    done = smspec("lock", cwd=tmp_path)
    assert done.status == 3 and f"--digest {URI}=" in done.err
    assert smspec("lock", "--digest", f"{URI}={DIGEST}", cwd=tmp_path).status == 0
    assert codes(tmp_path) == []
    assert f"FROM --platform=linux/amd64 {URI}@{DIGEST}\n" in smspec("render", "--dockerfile", cwd=tmp_path).out


@pytest.mark.parametrize(
    "name, region, found",
    [
        (NAME, "", ["SM487"]),
        ("pytorch-training:9.9", "us-west-2", ["SM487"]),
        (NAME, "us-west-9", ["SM487", "SM802"]),
        ("pytorch-trainig:2.5.1-gpu", "us-west-2", ["SM436"]),
    ],
)
def test_name_without_an_image_is_an_error(tmp_path, name, region, found):
    job(tmp_path, name, region=region)
    assert codes(tmp_path) == found
    done = smspec("lock", cwd=tmp_path)
    assert done.status == 1 if found != ["SM436"] else done.status == 0
    assert found == ["SM436"] or not (tmp_path / "smspec.lock").exists()


@pytest.mark.parametrize("region", ["", "region: us-west-2\n"], ids=["no-region", "region"])
@pytest.mark.parametrize(
    "host", ["1{}.dkr.ecr..us-west-2", "1{}.dkr.ecr.", "1.dkr.ecr..us-west-2", ".dkr.ecr.us-west-2"]
)
def test_existing_image_with_an_empty_label_is_an_error(tmp_path, host, region):
    """An image that smspec builds has such a host while its region is missing, which is reported at the region."""
    spec = READY.replace("111122223333.dkr.ecr.us-west-2", host.format("1" * 11))
    assert spec != READY
    write_job(tmp_path, spec + region)
    assert codes(tmp_path) == ["SM436"]


def test_misspelled_repository_suggests_a_name(tmp_path):
    job(tmp_path, "pytorch-trainig:2.5.1-gpu")
    assert f"did you mean `{NAME}`?" in smspec("validate", cwd=tmp_path).out


@pytest.mark.parametrize("uri", ["pytorch-training:2.5.1-gpu", f"{URI}@{DIGEST}", "", "7", URI.rpartition(":")[0]])
def test_lock_with_another_value_is_malformed(tmp_path, uri):
    job(tmp_path)
    (tmp_path / "smspec.lock").write_text(json.dumps({"lock": 1, "names": {f"{NAME} in us-west-2": uri}}))
    assert codes(tmp_path) == ["SM723"]


def test_imported_uri_stays_as_it_is(tmp_path):
    job(tmp_path)
    (tmp_path / "request.json").write_text(json.dumps(request(tmp_path)))
    done = smspec("import", "request.json", cwd=tmp_path)
    assert done.status == 0 and URI in done.out


def test_usual_bases_are_not_names():
    assert not {base.rstrip(":") for base in USUAL_BASES} & set(images.repositories())


def test_columns_of_the_tables_agree():
    used = {image.column for repository in images.repositories() for image in images.images_of(repository)}
    assert used == {column for column in table("accounts").columns if column.isdecimal()}
    assert all(accounts.regions(column) for column in used)
