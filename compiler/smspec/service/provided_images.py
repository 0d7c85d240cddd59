"""Images that AWS provides: what the tables know of one, what it has installed, and its restrictions.

An image is one of them by its repository and by the account that owns it: a team may call an image of its own
``kmeans`` too. The tables of `smspec.service.facts` have the repositories, tags, and accounts.

What an image has installed is known if its lock, the lines of its Dockerfile that install more, and the lists of files
of these versions are public. A tag moves with each build, so a missing module is a warning.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache

from smspec.service.facts import accounts, table
from smspec.service.facts.images import ListedImage, images_of, is_same_release, python_version, repositories
from smspec.service.image_names import Unavailable, parsed_name, selected
from smspec.service.image_reference import ImageReference, parsed_reference
from smspec.service.instance_types import Processor
from smspec.source.frozen import dataclass

# fmt: off
_WITHOUT_CHECKPOINTS = frozenset({
    "blazingtext", "factorization-machines", "forecasting-deepar", "ipinsights", "kmeans", "knn", "lda",
    "linear-learner", "ntm", "object2vec", "pca", "randomcutforest", "seq2seq",
})
# fmt: on
_WITH_CHECKPOINTS = frozenset({"image-classification", "object-detection", "semantic-segmentation", "xgboost"})
_ALGORITHMS = _WITHOUT_CHECKPOINTS | _WITH_CHECKPOINTS
# Since 0.90-1 XGBoost writes checkpoints; that version is in the repository sagemaker-xgboost.
_OLD_XGBOOST = ("xgboost", frozenset({None, "1", "latest", "0.72"}))
_NEEDS_THE_NETWORK = ("sagemaker-chainer", "sagemaker-rl-")

_TABLE = "image_packages"
_MODULES = 1
_FIRST_IMAGE = 2
_NONE = "-"

_HOSTS: tuple[frozenset[Processor], ...] = (frozenset(), frozenset({"cpu"}), frozenset({"gpu"}), frozenset({"neuron"}))


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvidedImage:
    """An image in an account of AWS.

    ``of_repository``: every listed image of its repository; ``published``: those that this account publishes in this
    region; ``listed``: those with this tag, too. ``is_of_region``: the account publishes any images in the region.
    """

    account: str
    region: str
    repository: str
    tag: str | None
    is_of_region: bool
    of_repository: tuple[ListedImage, ...]
    published: tuple[ListedImage, ...]
    listed: tuple[ListedImage, ...]

    @property
    def processors(self) -> frozenset[str]:
        """The processors that the image is for; empty if they are unknown. Both kinds of Neuron are one."""
        return frozenset(name.rstrip("x") for image in self.listed for name in image.processors)

    def uri_in(self, region: str) -> str:
        """Return the whole URI of the same image in a region; empty if it is not published there."""
        tagged = [image for image in self.of_repository if self.tag in image.tags]
        columns = dict.fromkeys(image.column for image in tagged or self.of_repository)
        registries = [registry for column in columns if (registry := accounts.registry(column, region))]
        return f"{registries[0]}/{self.repository}:{self.tag}" if registries and self.tag else ""


def is_provided(image: ImageReference | None) -> bool:
    """Return whether an image is in an account of AWS."""
    return image is not None and image.account is not None and accounts.is_provider(image.account)


@lru_cache(maxsize=256)  # several rules use it, and jobs share images
def provided_image(text: str) -> ProvidedImage | None:
    """Return what is known of an image of AWS; None for any other image, such as a mirror in the account of a team."""
    image = parsed_reference(text)
    if image is None or image.account is None or image.region is None or not is_provided(image):
        return None
    columns = accounts.columns(image.account, image.region)
    of_repository = images_of(image.repository)
    published = tuple(row for row in of_repository if row.column in columns)
    return ProvidedImage(
        account=image.account,
        region=image.region,
        repository=image.repository,
        tag=image.tag,
        is_of_region=bool(columns),
        of_repository=of_repository,
        published=published,
        listed=tuple(row for row in published if image.tag is not None and image.tag in row.tags),
    )


def is_built_in_algorithm(image: ImageReference) -> bool:
    """Return whether an image is a built-in algorithm of SageMaker, which runs no user script."""
    return image.repository in _ALGORITHMS and image.account in _accounts_of_algorithms()


def is_algorithm_without_checkpoints(image: ImageReference) -> bool:
    """Return whether an image is a built-in algorithm that starts from scratch after an interruption."""
    if not is_built_in_algorithm(image):
        return False
    name, tags = _OLD_XGBOOST
    return image.repository in _WITHOUT_CHECKPOINTS or (image.repository == name and image.tag in tags)


def needs_the_network(image: ImageReference) -> bool:
    """Return whether an image is a container of SageMaker that does not run without a network."""
    return (
        image.repository.startswith(_NEEDS_THE_NETWORK)
        and image.account in _accounts_of_containers_that_need_the_network()
    )


@cache
def _accounts_of_algorithms() -> frozenset[str]:
    return _accounts_of(name for name in repositories() if name in _ALGORITHMS)


@cache
def _accounts_of_containers_that_need_the_network() -> frozenset[str]:
    return _accounts_of(name for name in repositories() if name.startswith(_NEEDS_THE_NETWORK))


def _accounts_of(names: Iterable[str]) -> frozenset[str]:
    """Return the accounts that publish some repositories, in all regions."""
    return accounts.accounts(frozenset(image.column for name in names for image in images_of(name)))


def modules_as_of() -> str:
    """The end of a message about modules that may have changed since."""
    return table(_TABLE).as_of


@cache
def _modules_in(image: ListedImage) -> frozenset[str] | None:
    """Return the first parts of the modules that the packages of an image provide; None if they are not all known."""
    column = _column(image)
    if column is None:
        return None
    # No cell contains a quote or a comma.
    rows = (line.split(",") for line in table(_TABLE).lines)
    found = {row[_MODULES] for row in rows if row[column]}
    return None if "" in found else frozenset(name for cell in found - {_NONE} for name in cell.split())


def _column(image: ListedImage) -> int | None:
    """Return the column of an image: that of one of its tags, or of a different tag of the same release."""
    for number, column in enumerate(table(_TABLE).columns[_FIRST_IMAGE:], _FIRST_IMAGE):
        repository, _, tag = column.partition(":")
        if repository == image.repository and any(
            tag in other.tags and is_same_release(image, other) for other in images_of(repository)
        ):
            return number
    return None


def modules_of(image: str) -> frozenset[str] | None:
    """Return the first parts of the modules that the packages of an image provide; None if they are unknown.

    ``image`` is a URI with a tag, or a short name. A mirror of an image of AWS is unknown, because its owner may have
    changed it.
    """
    found = {_modules_in(row) for row in _rows(image)}
    return found.pop() if len(found) == 1 else None


def python_of(image: str) -> tuple[int, int] | None:
    """Return the version of Python in an image, as `modules_of`; None if it is unknown.

    A short name without a processor is enough if the images of its release have the same Python.
    """
    found = {python_version(row) for row in _rows(image)}
    return found.pop() if len(found) == 1 else None


@lru_cache(maxsize=256)  # jobs of a repository share images
def _rows(image: str) -> tuple[ListedImage, ...]:
    reference = parsed_reference(image)
    if reference is None:
        return ()
    if reference.registry is not None:
        provided = provided_image(image)
        return () if provided is None else provided.listed
    name = parsed_name(image)
    if name is None:
        return ()
    found = [selected(name, hosts) for hosts in _HOSTS]
    return tuple(dict.fromkeys(each[0] for each in found if not isinstance(each, Unavailable)))
