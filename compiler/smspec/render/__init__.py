"""Plans written down: texts, and the tree of files that a build writes. Nothing is decided here, and nothing is read.

`TARGETS` are what ``smspec render`` can show; ``smspec render --<name>`` is made from each.
"""

from __future__ import annotations

from collections.abc import Callable

from smspec.plan.ingredients import Ingredients
from smspec.plan.plan import Plan
from smspec.render.templates_digest import templates_digest
from smspec.source import Document

__all__ = ["TARGETS", "NothingToRender", "Target", "templates_digest"]


class NothingToRender(Exception):
    """The job has no such file; the text says why."""


Target = Callable[[Plan, Ingredients, Document], str]
"""From the plans of a job, the files that go in and the merged spec to one text."""


def _api_json(plan: Plan, _ingredients: Ingredients, _spec: Document) -> str:
    from smspec.render.request import request_json  # late, like all targets: one is shown at a time

    return request_json(plan.request)


def _dockerfile(plan: Plan, ingredients: Ingredients, _spec: Document) -> str:
    from smspec.render.dockerfile import dockerfile

    if plan.image is None:
        raise NothingToRender("the job runs in a ready image: there is no Dockerfile")
    return dockerfile(plan.image, None if plan.image.python_requirements is None else ingredients.requirements)


def _entrypoint(plan: Plan, _ingredients: Ingredients, _spec: Document) -> str:
    from smspec.render.entrypoint import entrypoint

    if plan.run is None:
        raise NothingToRender("the image starts the program itself: there is no entrypoint of ours")
    return entrypoint(plan.run)


def _spec(_plan: Plan, _ingredients: Ingredients, spec: Document) -> str:
    from smspec.render.spec_yaml import spec_yaml

    return spec_yaml(spec)


TARGETS: dict[str, Target] = {
    "api-json": _api_json,
    "dockerfile": _dockerfile,
    "entrypoint": _entrypoint,
    "spec": _spec,
}
