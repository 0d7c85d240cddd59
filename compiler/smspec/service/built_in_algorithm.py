"""The built-in algorithm that a request runs, if it certainly runs one."""

from __future__ import annotations

from smspec.service.facts import accounts
from smspec.service.facts.algorithms import Algorithm, algorithm
from smspec.service.facts.images import images_of
from smspec.service.image_reference import ImageReference
from smspec.service.provided_images import is_built_in_algorithm
from smspec.service.request import Request

_XGBOOST, _SCRIPT_OR_XGBOOST = "xgboost", "sagemaker-xgboost"


def built_in_algorithm(request: Request) -> Algorithm | None:
    """Return the facts about the algorithm; None if the container runs anything else.

    ``sagemaker-xgboost`` is the algorithm if the request contains no script.
    """
    image = request.image
    if image is None or _starts_something(request):
        return None
    if is_built_in_algorithm(image):
        return algorithm(image.repository)
    if image.repository == _SCRIPT_OR_XGBOOST and image.account in _accounts(image):
        return algorithm(_XGBOOST)
    return None


def _starts_something(request: Request) -> bool:
    """Return whether the request starts a script or a command in the container."""
    hyperparameters = request.payload.get("HyperParameters")
    members = ("ContainerEntrypoint", "ContainerArguments")
    return (isinstance(hyperparameters, dict) and "sagemaker_program" in hyperparameters) or any(
        member in request.algorithm for member in members
    )


def _accounts(image: ImageReference) -> frozenset[str]:
    """Return the accounts that own a repository, in all regions."""
    return accounts.accounts(frozenset(listed.column for listed in images_of(image.repository)))
