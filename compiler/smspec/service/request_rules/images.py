"""TrainingImage, if it is an image of AWS: its account, repository, and tag, and the instances it runs on."""

from __future__ import annotations

import re
from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.diagnostics.suggestions import did_you_mean, nearest
from smspec.service.built_in_algorithm import script_of_aws
from smspec.service.facts import accounts, architecture, images
from smspec.service.instance_types import UPDATE, processors
from smspec.service.patterns import shown
from smspec.service.policy import KnownFacts, without_known
from smspec.service.provided_images import ProvidedImage, is_built_in_algorithm
from smspec.service.request import IMAGE, Request
from smspec.source import Path

ACCOUNT_OF_A_DIFFERENT_REGION = Rule("SM488", "image account of a different region", evidence="inferred")


def account_of_a_different_region(request: Request) -> Iterator[Finding]:
    """Reject the registry of an account that publishes no images in the region of its host name.

    AWS publishes its images from a different account in most regions.
    """
    image = request.provided_image
    # An unlisted repository may have other accounts, and a new region other ones.
    if image is None or image.is_of_region or not image.of_repository or image.region not in accounts.all_regions():
        return
    right = image.uri_in(request.region or image.region)
    regions = [region for region in accounts.all_regions() if accounts.columns(image.account, region)]
    there = ", ".join(f"`{region}`" for region in regions[:3])
    yield ACCOUNT_OF_A_DIFFERENT_REGION.at(
        IMAGE,
        f"{HERE} is in account `{image.account}`, which has no images of AWS in `{image.region}`",
        help=f"use `{right}`" if right else f"use a region of this account, such as {there}",
    )


GPU_IMAGE_ON_CPU_INSTANCES = Rule("SM386", "GPU image on CPU instances, or the reverse", "warning", evidence="policy")


def gpu_image_on_cpu_instances(request: Request) -> Iterator[Finding]:
    """Warn about a GPU image if no instance has a GPU, and about a CPU image if all instances have.

    A GPU image on CPU instances computes on the CPU at best; a CPU image leaves GPUs idle that are paid for.
    """
    image, reference = request.provided_image, request.image
    # The instances of built-in algorithms are a matter of the algorithm.
    if image is None or reference is None or is_built_in_algorithm(reference) or script_of_aws(request):
        return
    hosts = processors(kind for _, kind in request.instance_types)
    if image.processors == {"gpu"} and hosts == {"cpu"}:
        yield GPU_IMAGE_ON_CPU_INSTANCES.at(
            IMAGE,
            f"{HERE} is a GPU image, but no instance of the job has a GPU",
            help="use the CPU image, or an instance type with GPUs, such as `ml.g5.xlarge`",
        )
    elif image.processors == {"cpu"} and hosts == {"gpu"}:
        yield GPU_IMAGE_ON_CPU_INSTANCES.at(
            IMAGE,
            f"{HERE} is a CPU image, so it might not use the GPUs of the instances",
            help="use the GPU image, or an instance type without GPUs, such as `ml.c5.xlarge`",
        )


IMAGE_FOR_A_DIFFERENT_ARCHITECTURE = Rule("SM490", "image for a different architecture", evidence="inferred")

_ARM = r"(?:.*-)?(?:arm64|aarch64|graviton)(?:-.*)?"


def image_for_a_different_architecture(request: Request) -> Iterator[Finding]:
    """Reject an image of AWS for Arm processors on instances that have others.

    An image for Arm processors does not start on x86-64 instances.
    """
    image = request.provided_image
    if image is None or not any(re.fullmatch(_ARM, name) for name in (image.repository, image.tag or "")):
        return
    for kind in dict.fromkeys(kind for _, kind in request.instance_types):
        if architecture(kind) == "x86_64":
            yield IMAGE_FOR_A_DIFFERENT_ARCHITECTURE.at(
                IMAGE,
                f"{HERE} is for Arm processors, but `{kind}` has x86-64 processors",
                help="use the image without `arm64`",
            )
            return


IMAGE_FOR_A_DIFFERENT_PROCESSOR = Rule("SM489", "image for a different processor", evidence="inferred")


def image_for_a_different_processor(request: Request) -> Iterator[Finding]:
    """Reject a Neuron image without Neuron instances, and a CUDA image on Neuron instances alone.

    Software for Neuron devices does not run on other instances, and CUDA does not run on Neuron devices.
    """
    image = request.provided_image
    types = dict.fromkeys(kind for _, kind in request.instance_types)
    hosts = processors(types)
    if image is None or not hosts:
        return
    is_for_neuron = image.processors == {"neuron"}
    if (is_for_neuron and "neuron" not in hosts) or (image.processors == {"gpu"} and hosts == {"neuron"}):
        has, lacks = ("Neuron", "Neuron devices") if is_for_neuron else ("CUDA", "GPUs")
        listed = ", ".join(f"`{kind}`" for kind in [*types][:3])
        yield IMAGE_FOR_A_DIFFERENT_PROCESSOR.at(
            IMAGE,
            f"{HERE} is a {has} image, but {listed} {'has' if len(types) == 1 else 'have'} no {lacks}",
            help="use an instance type such as `ml.trn1.2xlarge`, or a different image"
            if is_for_neuron
            else "use a Neuron image, such as `pytorch-training-neuronx`, or instances with GPUs",
        )


IMAGE_PAST_ITS_END_OF_PATCH = Rule("SM387", "image past its end of patch", "warning", evidence="policy")


def image_past_its_end_of_patch(request: Request) -> Iterator[Finding]:
    """Warn about an image that got no more patches on the date that the repository states.

    AWS fixes security problems in an image until its end of patch. If no file states a date, that of the table has
    certainly passed.
    """
    image = request.provided_image
    ends = {listed.end_of_patch for listed in image.listed if listed.end_of_patch} if image else set()
    today = request.today or images.date()
    if image and ends and max(ends) < today:
        unstated = "" if request.today else "; the repository states no date, see `facts.today` of smspec.toml"
        yield IMAGE_PAST_ITS_END_OF_PATCH.at(
            IMAGE,
            f"{HERE} is past its end of patch, {max(ends)} (as of {today})",
            help=f"use a newer version of `{image.repository}`{unstated}",
        )


REPOSITORY_OF_A_DIFFERENT_ACCOUNT = Rule(
    "SM384", "image repository of a different account", "warning", evidence="inferred"
)


def repository_of_a_different_account(request: Request) -> Iterator[Finding]:
    """Warn about a repository that AWS publishes from a different account in the region, or not at all.

    Each account of AWS publishes only some repositories.
    """
    image = request.provided_image
    # AWS publishes many repositories that are not for training, so an unlisted one is no sign of an error.
    if image is None or not image.is_of_region or image.published or not image.of_repository:
        return
    columns = {listed.column for listed in image.of_repository}
    others = sorted({accounts.account(column, image.region) for column in columns} - {""})
    right = image.uri_in(request.region or image.region)
    regions = sorted({region for column in columns for region in accounts.regions(column)})
    yield REPOSITORY_OF_A_DIFFERENT_ACCOUNT.at(
        IMAGE,
        f"{HERE}: `{image.repository}` is not in "
        + (f"account `{image.account}` {accounts.as_of()}" if others else f"`{image.region}` {accounts.as_of()}"),
        help=f"use `{right}`"
        if right
        else f"use account {' or '.join(f'`{other}`' for other in others)}"
        if others
        else f"use a region such as {', '.join(f'`{region}`' for region in regions[:3])}",
    )


UNLISTED_IMAGE_TAG = Rule("SM385", "unlisted image tag", "warning", evidence="inferred")

# No tag, or `latest`, is reported by a different rule. Not all tags with Python 2 are listed.
_UNKNOWABLE_TAG = r"|latest|.*-py2[0-9]*(?:-.*)?"

_TELLING_PART = r"\d[\d.]*|cpu|gpu|neuronx?|py\d+"
"""Parts that no form of a tag leaves out: the version of the framework, the processor, and Python."""

_VERSION_AND_PROCESSOR = r".+?-(?:cpu|gpu|neuronx?)(?=-|$)"


def unlisted_image_tag(request: Request) -> Iterator[Finding]:
    """Warn about an image of AWS whose region or tag is not in the tables.

    SageMaker cannot pull a tag that was never published.
    """
    image = request.provided_image
    if image is None or image.listed or not image.of_repository:
        return
    if image.region not in accounts.all_regions():
        yield _unlisted_region(image)
    elif image.published and not re.fullmatch(_UNKNOWABLE_TAG, image.tag or "") and not _is_derived(image):
        elsewhere = any(image.tag in listed.tags for listed in image.of_repository)
        near = None if elsewhere else _nearest_tag(image)
        yield UNLISTED_IMAGE_TAG.at(
            IMAGE,
            f"{HERE}: `{image.repository}` has no listed tag `{shown(image.tag)}`"
            f"{f' in `{image.region}`' if elsewhere else ''} {images.as_of()}",
            label=f"did you mean `{near}`?" if near else "",
            help=f"use a listed tag; if the tag is newer, run `{UPDATE}`, or add SM385 to `checks.ignore`",
        )


def _unlisted_region(image: ProvidedImage) -> Finding:
    return UNLISTED_IMAGE_TAG.at(
        IMAGE,
        f"{HERE} is in `{shown(image.region)}`, which has no images of AWS {accounts.as_of()}",
        label=did_you_mean(image.region, accounts.all_regions()),
        help="check the region; if it is newer, add SM385 to `checks.ignore`",
    )


def _is_derived(image: ProvidedImage) -> bool:
    """Return whether a tag is a shorter or a longer form of a listed one.

    AWS publishes an image under several tags: with `X.Y` for `X.Y.Z`, without the version of a second framework, of
    CUDA, and of the system, and with builds, dates, and `vN` appended (release notes of aws/deep-learning-containers).
    """
    tag = str(image.tag)
    if any(tag.startswith(f"{known}-") for listed in image.of_repository for known in listed.tags):
        return True
    parts = re.sub(r"(?:-v\d+|-sagemaker)+$", "", tag).split("-")
    return any(_is_shorter(parts, known) for listed in image.published for known in listed.tags)


def _is_shorter(parts: list[str], listed: str) -> bool:
    """Return whether a listed tag has these parts in this order, and none left out that says what the image is."""
    left = iter(listed.split("-"))
    for part in parts:
        for known in left:
            if known == part or known.startswith(f"{part}."):
                break
            if re.fullmatch(_TELLING_PART, known):
                return False
        else:
            return False
    return not any(re.fullmatch(_TELLING_PART, known) for known in left)


def _nearest_tag(image: ProvidedImage) -> str | None:
    """Return the listed tag that is meant: of the same version for the same processor, or else the nearest."""
    tags = [tag for listed in image.published for tag in listed.tags]
    begun = re.match(_VERSION_AND_PROCESSOR, str(image.tag))
    same = [tag for tag in tags if begun and f"{tag}-".startswith(f"{begun[0]}-")]
    return same[0] if same else nearest(str(image.tag), tags)


_BASE: Path = ("image", "base")
# The processor and the end of patch of the image are a matter of what the build changes.
_OF_A_BASE = (account_of_a_different_region, repository_of_a_different_account, unlisted_image_tag)


def base_image_findings(base: str, facts: KnownFacts) -> list[Finding]:
    """Return why a registry does not have a base image.

    The build pulls it from the region of its host name, whatever the region of the job is.
    """
    request = Request(payload={"AlgorithmSpecification": {"TrainingImage": base}})
    found = (finding.renamed(_BASE) for rule in _OF_A_BASE for finding in rule(request))
    return without_known(found, request, facts)


RULES = {
    account_of_a_different_region: (),
    gpu_image_on_cpu_instances: (),
    image_for_a_different_architecture: (),
    image_for_a_different_processor: (),
    image_past_its_end_of_patch: (),
    repository_of_a_different_account: (),
    unlisted_image_tag: (),
}
