"""A Terraform configuration in HCL: a training job, or a state machine or pipeline that creates one."""

from __future__ import annotations

import re

from smspec.importer.definitions.found_jobs import FoundJob, selected
from smspec.importer.definitions.settling import settled
from smspec.importer.definitions.terraform_resources import DEFINITIONS, jobs_of_resource
from smspec.importer.definitions.variables import DefinitionVariables, TooManyVariables
from smspec.importer.hcl.evaluation import Configuration, TooMuch
from smspec.importer.hcl.parsing import parse
from smspec.importer.hcl.tokens import NotHcl
from smspec.importer.imported import Imported, RequestNotFound

_BLOCK = re.compile(
    r'^[ \t]*(?:resource[ \t]+"|variable[ \t]+"|data[ \t]+"|module[ \t]+"|output[ \t]+"|provider[ \t]+"|locals[ \t]*\{'
    r"|terraform[ \t]*\{)",
    re.MULTILINE,
)


def is_configuration(text: str) -> bool:
    """Return whether a text looks like a Terraform configuration."""
    return _BLOCK.search(text) is not None


def imported_configuration(text: str, choice: str | None, *, all_jobs: bool = False) -> tuple[Imported, ...]:
    """Return the only or the chosen job of a configuration, or ``all_jobs``; raise `RequestNotFound`."""
    variables = DefinitionVariables()
    try:
        configuration = Configuration(parse(text), variables)
        elsewhere: list[str] = []
        jobs = list(_jobs(configuration, variables, elsewhere))
        if not jobs and elsewhere:
            raise RequestNotFound(
                f"a definition is not in the configuration: {'; '.join(elsewhere[:5])}; pass that file"
            )
        found = selected(jobs, choice, "the configuration", all_jobs=all_jobs)
        return tuple(settled(job, variables) for job in found)
    except NotHcl as fault:
        raise RequestNotFound(f"the Terraform configuration cannot be read: {fault}") from fault
    except (TooMuch, TooManyVariables, RecursionError) as fault:
        raise RequestNotFound("the values of the configuration are too large") from fault


def _jobs(configuration: Configuration, variables: DefinitionVariables, elsewhere: list[str]) -> list[FoundJob]:
    found: list[FoundJob] = []
    for (kind, name), body in configuration.resources.items():
        address = f"{kind}.{name}"
        path = configuration.file_of(body.attributes.get(DEFINITIONS.get(kind, "")))
        if path is not None:
            elsewhere.append(f"`{address}` reads `{path}`")
        elif kind in DEFINITIONS or kind == "aws_sagemaker_training_job":
            found += jobs_of_resource(kind, address, configuration.arguments(body), variables)
    return found
