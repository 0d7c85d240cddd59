"""A TrainingJob or HyperparameterTuningJob of the SageMaker operator for Kubernetes, now replaced by ACK."""

from __future__ import annotations

from smspec.importer.definitions.found_jobs import FoundJob
from smspec.importer.definitions.member_names import with_api_names
from smspec.importer.definitions.tuning import tuning_jobs
from smspec.importer.definitions.variables import DefinitionVariables
from smspec.importer.imported import Imported, NotImported, RequestNotFound
from smspec.service.members import member, structure
from smspec.service.shapes import pinned_model
from smspec.source.frozen import replace

_GROUP = "sagemaker.aws.amazon.com/"
_TUNING = "HyperparameterTuningJob"


def detect(data: dict[str, object]) -> bool:
    return str(data.get("apiVersion")).startswith(_GROUP)


def jobs(data: dict[str, object], variables: DefinitionVariables) -> list[FoundJob]:
    """Return the jobs of an object."""
    kind = str(data.get("kind"))
    if kind.lower() not in (_TUNING.lower(), "trainingjob"):
        raise RequestNotFound(f"an object of kind `{kind}`; expected TrainingJob or {_TUNING}")
    spec = dict(structure(data, "spec"))
    region = spec.pop("region", None)
    request = with_api_names({name: value for name, value in spec.items() if name != "sageMakerEndpoint"})
    stem = str(member(data, "metadata", "name") or "")
    more = tuple(name for name in data if name not in ("apiVersion", "kind", "spec"))
    more += tuple(name for name in ("sageMakerEndpoint",) if name in spec)

    def placed(found: Imported) -> Imported:
        return replace(
            found,
            region=region if isinstance(region, str) else None,
            stem=found.stem or stem,
            left_out=(*found.left_out, *more),
        )

    def of_a_tuning(job: FoundJob) -> FoundJob:
        return replace(job, imported=lambda: placed(job.imported()))

    if kind != "TrainingJob":
        form = f"a {_TUNING} of the SageMaker operator for Kubernetes"
        return [of_a_tuning(job) for job in tuning_jobs(request, variables, form)]
    members = pinned_model().root.members
    unknown = [name for name in request if name not in members]
    why = f"the API model of {pinned_model().date} has no such member"
    found = Imported(
        form="a TrainingJob of the SageMaker operator for Kubernetes",
        request={name: value for name, value in request.items() if name in members},
        not_imported=tuple(NotImported(("spec", name), why) for name in unknown),
    )
    return [FoundJob(stem, stem, lambda: placed(found))]
