"""The existing image of a job in Amazon ECR: its tag or digest, and its platform."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from smspec.registry.manifest import ACCEPTED, Manifest, config_platform, has_platform, read_manifest, shown
from smspec.service.facts.accounts import is_provider
from smspec.service.image_reference import ImageReference, parsed_reference
from smspec.service.shapes import items, member
from smspec.submission.preflight.asking import Answer, NotChecked, Question, ok, wrong
from smspec.submission.preflight.aws_calls import AwsCalls
from smspec.wire.aws import AwsRefused
from smspec.wire.fault import WireFault

KIND = "image"
_ABSENT = ("RepositoryNotFoundException", "ImageNotFoundException")
_LARGEST_CONFIG = 1 << 20
_MOST_PAGES = 5


def image_questions(calls: AwsCalls, payload: Mapping[str, Any], platforms: tuple[str, ...]) -> list[Question]:
    """Return the question about the image of a request; none without an image.

    ``platforms``: one of them is that of the hosts; empty if that is unknown.
    """
    uri = member(payload, "AlgorithmSpecification", "TrainingImage")
    reference = parsed_reference(uri) if isinstance(uri, str) else None
    if reference is None:
        return []
    waits_for = f"Amazon ECR in {reference.region}" if reference.region else "the registry"
    return [
        Question(
            kind=KIND, name=str(uri), waits_for=waits_for, ask=partial(_image, calls, reference, str(uri), platforms)
        )
    ]


def _image(calls: AwsCalls, reference: ImageReference, uri: str, platforms: tuple[str, ...]) -> Answer:
    account, region = reference.account, reference.region
    if account is None or region is None:
        raise NotChecked("it is not in a private registry of Amazon ECR")
    client = calls.client("ecr", region)
    where = {"registryId": account, "repositoryName": reference.repository}
    wanted = {"imageDigest": reference.digest} if reference.digest else {"imageTag": reference.tag or "latest"}
    try:
        found = calls.called(
            f"read the image `{uri}`",
            "ecr:BatchGetImage",
            lambda: client.batch_get_image(imageIds=[wanted], acceptedMediaTypes=ACCEPTED.split(", "), **where),
        )
    except NotChecked as fault:
        if fault.action and is_provider(account):
            raise NotChecked(f"{fault}; AWS owns the image", fault.action) from None
        raise
    except AwsRefused as refusal:
        if refusal.code not in _ABSENT:
            raise
        return _absent(calls, reference, uri, f"its repository does not exist in account {account}")
    image = next(iter(items(found, "images")), None)
    if image is None:
        code = member(next(iter(items(found, "failures")), None), "failureCode")
        if code not in ("ImageNotFound", "ImageTagDoesNotMatchDigest"):
            raise NotChecked(f"Amazon ECR does not return it: {code or 'no reason was given'}")
        return _absent(calls, reference, uri, "does not exist in its repository")
    return _of_platform(calls, image, uri, platforms, partial(client.get_download_url_for_layer, **where))


def _absent(calls: AwsCalls, reference: ImageReference, uri: str, text: str) -> Answer:
    emulator = calls.emulator("ecr")
    if emulator:
        raise NotChecked(f"`{emulator}`, which is not AWS, does not have it")
    if is_provider(reference.account or ""):  # such a registry shows others what they may pull
        raise NotChecked(f"{text}, as far as AWS shows its own images")
    try:
        rule = _pull_through_cache(calls, reference)
    except AwsRefused as refusal:
        raise NotChecked(f"{text}, and the rules of pull-through caches are unknown: {refusal}") from None
    except NotChecked as fault:
        raise NotChecked(f"{text}, unless a pull-through cache creates it: {fault}", fault.action) from None
    if rule:
        raise NotChecked(f"{text}; at the first pull, {rule}")
    return wrong(KIND, uri, text)


def _pull_through_cache(calls: AwsCalls, reference: ImageReference) -> str:
    """Return what creates an image of a registry when it is pulled; empty if no rule of a cache has its prefix."""
    client = calls.client("ecr", reference.region)
    token: dict[str, str] = {}
    for _ in range(_MOST_PAGES):
        page = calls.called(
            "read the pull-through cache rules",
            "ecr:DescribePullThroughCacheRules",
            partial(client.describe_pull_through_cache_rules, registryId=reference.account, maxResults=1000, **token),
        )
        for rule in items(page, "pullThroughCacheRules"):
            prefix = str(member(rule, "ecrRepositoryPrefix"))
            if prefix == "ROOT" or reference.repository.startswith(f"{prefix}/"):
                upstream = member(rule, "upstreamRegistryUrl")
                source = f" from `{upstream}`" if isinstance(upstream, str) and upstream else ""
                return f"the pull-through cache rule `{prefix}` may copy it{source}"
        following = page.get("nextToken")
        if not isinstance(following, str) or not following or following == token.get("nextToken"):
            if not isinstance(page.get("pullThroughCacheRules"), list):
                raise NotChecked("the response of Amazon ECR does not contain its rules")
            return ""
        token = {"nextToken": following}
    raise NotChecked(f"Amazon ECR lists more than {_MOST_PAGES} pages of rules")


def _of_platform(
    calls: AwsCalls, image: object, uri: str, platforms: tuple[str, ...], link: partial[dict[str, Any]]
) -> Answer:
    """Compare the platform of an image that exists with that of the hosts."""
    try:
        manifest = read_manifest(
            str(member(image, "imageManifest")).encode(), str(member(image, "imageManifestMediaType")), ""
        )
        found = manifest.platforms if manifest.config is None else _platforms(calls, manifest, link)
    except NotChecked as fault:
        raise NotChecked(f"it exists, but its platform is unknown: {fault}", fault.action) from None
    except WireFault as fault:
        raise NotChecked(f"it exists, but its platform is unknown: {fault}") from None
    if not found:
        raise NotChecked("it exists, but its platform is unknown: it names none")
    if platforms and not any(has_platform(found, platform) for platform in platforms):
        return wrong(KIND, uri, f"is for {shown(found)}, but the instances are {' or '.join(platforms)}")
    return ok(KIND, uri, f"exists, for {shown(found)}")


def _platforms(calls: AwsCalls, manifest: Manifest, link: partial[dict[str, Any]]) -> tuple[str, ...]:
    """Return the platform in the config of an image, which S3 keeps for Amazon ECR."""
    blob = manifest.config
    assert blob is not None  # of an image, not of an index
    answer = calls.called(
        "find the config of the image", "ecr:GetDownloadUrlForLayer", lambda: link(layerDigest=blob.digest)
    )
    found = config_platform(calls.download(str(member(answer, "downloadUrl")), _LARGEST_CONFIG), blob)
    return (found,) if found else ()
