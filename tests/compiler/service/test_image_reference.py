"""The grammar of image references."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smspec.service.image_reference import is_image_reference, parsed_reference
from smspec.service.request import Request
from smspec.service.request_rules.algorithm import image_without_a_full_reference
from smspec.service.request_rules.whole_request import registry_with_another_dns_suffix

DIGEST = "sha256:" + "ab" * 32


@pytest.mark.parametrize(
    "text",
    [
        "python",
        "python:3.12-slim-bookworm",
        "nvidia/cuda:12.4.1-cudnn-runtime-ubuntu22.04",
        "localhost/base",
        "localhost:5000/base:1",
        "registry:5000/a/b/c:x",
        "763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:2.4.0-gpu-py311",
        "public.ecr.aws/docker/library/python:3.12",
        "Registry.Example.COM/team/base",
        "[2001:db8::1]:5000/base",
        f"python@{DIGEST}",
        f"python:3.12@{DIGEST}",
        "a__b/c-d--e.f",
        "base:" + "t" * 128,
    ],
)
def test_reference_is_parsed(text):
    assert is_image_reference(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " python",
        "python ",
        "python AS x",
        "--platform=linux/arm64 python",
        "--platform=linux/arm64",
        "$BASE",
        "${BASE}:1",
        "python:$TAG",
        "python:",
        "python:a b",
        "python:-x",
        "python\n",
        "python\nRUN true",
        "Python",
        "team/Base",
        "https://registry.example.com/base",
        "python@sha256:abc",
        "python@md5:" + "a" * 32,
        f"python@{DIGEST}:3.12",
        "/python",
        "python/",
        "a//b",
        "-a/b",
        "a:99999999/b",
        "base:" + "t" * 129,
        "a/" * 200 + "b",
        "pythön",
        "python:３",
        "a\u2028b",
    ],
)
def test_malformed_reference_is_rejected(text):
    assert not is_image_reference(text)


@given(st.text() | st.from_regex(r"[a-zA-Z0-9.:@/$ -]{0,40}"))
def test_accepted_reference_is_one_harmless_word(text):
    if is_image_reference(text):
        assert re.fullmatch(r"[A-Za-z0-9\[][A-Za-z0-9._:/@\[\]-]*", text, re.ASCII)


@pytest.mark.parametrize(
    ("registry", "account", "region"),
    [
        ("111122223333.dkr.ecr.us-west-2.amazonaws.com", "111122223333", "us-west-2"),
        ("111122223333.dkr.ecr.cn-north-1.amazonaws.com.cn", "111122223333", "cn-north-1"),
        ("111122223333.dkr.ecr-fips.us-gov-west-1.amazonaws.com", "111122223333", "us-gov-west-1"),
        ("111122223333.dkr-ecr.us-west-2.on.aws", "111122223333", "us-west-2"),
        ("111122223333.dkr.ecr.us-iso-east-1.c2s.ic.gov", "111122223333", "us-iso-east-1"),
        ("111122223333.dkr.ecr.eu-isoe-west-1.cloud.adc-e.uk", "111122223333", "eu-isoe-west-1"),
    ],
)
def test_private_ecr_address_contains_account_and_region(registry, account, region):
    image = parsed_reference(f"{registry}/team/base:1")
    assert (image.account, image.region, image.is_in_ecr, image.is_meant_for_ecr) == (account, region, True, True)


@pytest.mark.parametrize(
    "registry",
    [
        "111122223333.dkr-ecr.us-west-2.evil.example.com",
        "111122223333.dkr.ecr.us-west-2.evil.example.com",
        "111122223333.dkr.ecr.us-west-2.amazonaws.com.evil.example",
        "111122223333.dkr.ecr.us-west-2.evil.amazonaws.com",
        "111122223333.dkr.ecr.us-west-2.amazonaws.com.cn",
        "111122223333.dkr.ecr.us-west-2.on.aws",
        "111122223333.dkr-ecr.us-west-2.amazonaws.com",
        "111122223333.dkr-ecr.us-west-2.api.aws",
        "111122223333.dkr-ecr.us-west-2.on.aws.evil.example",
        "111122223333.dkr.ecr.cn-north-1.amazonaws.com",
        "111122223333.dkr.ecr.us-west-2.amazonaws.com:8443",
        "111122223333.dkr.ecr.us-west-2.AMAZONAWS.com",
        "111122223333.dkr.ecr.nowhere.amazonaws.com",
    ],
)
def test_registry_is_in_ecr_by_its_whole_name(registry):
    image = parsed_reference(f"{registry}/team/base:1")
    assert (image.account, image.region, image.is_in_ecr, image.is_meant_for_ecr) == (None, None, False, True)
    request = Request(payload={"AlgorithmSpecification": {"TrainingImage": f"{registry}/team/base:1"}})
    assert [*registry_with_another_dns_suffix(request), *image_without_a_full_reference(request)]


@pytest.mark.parametrize(
    ("text", "is_in_ecr", "is_meant_for_ecr"),
    [
        ("public.ecr.aws/docker/library/python:3.12", False, False),
        ("docker.io/library/python:3.12", False, False),
        ("python:3.12", False, False),
        ("1111.dkr.ecr.us-west-2.amazonaws.com/base:1", False, True),
        ("ecr.us-west-2.amazonaws.com/base:1", False, False),
        ("dkr.ecr.example.com/base:1", False, False),
    ],
)
def test_other_registries_have_no_account(text, is_in_ecr, is_meant_for_ecr):
    image = parsed_reference(text)
    assert (image.account, image.region) == (None, None)
    assert (image.is_in_ecr, image.is_meant_for_ecr) == (is_in_ecr, is_meant_for_ecr)
