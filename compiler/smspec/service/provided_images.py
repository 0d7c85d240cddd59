"""Images that AWS provides: the built-in algorithms and framework containers, and their restrictions.

An image is one of them by its repository and by the account that owns it: a team may call an image of its own
``kmeans`` too. The tables of `smspec.service.facts` have the repositories, tags, and accounts.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from smspec.service.facts import accounts
from smspec.service.facts.images import images_of, repositories
from smspec.service.image_reference import ImageReference

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
