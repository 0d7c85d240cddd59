"""The job as a Kubernetes object, from which the ACK controller for SageMaker creates a training job."""

from __future__ import annotations

from smspec.render.foreign_members import Members, without_place
from smspec.render.rendering import Rendering
from smspec.render.yaml_data import yaml_data
from smspec.service.ack_names import REGION, to_ack

API_VERSION = "sagemaker.services.k8s.aws/v1alpha1"
KIND = "TrainingJob"

UNKNOWN_TO_ACK: Members = frozenset(
    {
        ("AlgorithmSpecification", "ContainerArguments"),
        ("AlgorithmSpecification", "ContainerEntrypoint"),
        ("AlgorithmSpecification", "TrainingImageConfig"),
        ("ExperimentConfig", "RunName"),
        ("InputDataConfig", "DataSource", "DatasetSource"),
        ("InputDataConfig", "DataSource", "S3DataSource", "HubAccessConfig"),
        ("InputDataConfig", "DataSource", "S3DataSource", "ModelAccessConfig"),
        ("MlflowConfig",),
        ("ModelPackageConfig",),
        ("ProfilerConfig", "DisableProfiler"),
        ("ResourceConfig", "InstancePlacementConfig"),
        ("ResourceConfig", "InstancePreferences"),
        ("ResourceConfig", "TrainingPlanArn"),
        ("ServerlessJobConfig",),
        ("SessionChainingConfig",),
    }
)
"""Members for which the TrainingJob in the controller's published CRD (config/crd, v1alpha1) has no property."""


def ack(payload: dict[str, object], region: str | None = None) -> Rendering:
    """Return a TrainingJob object in YAML with all members, and a note about those that the CRD may not contain."""
    # Names of objects are lower case (Kubernetes, object names); the job keeps its own name.
    name = str(payload.get("TrainingJobName", "")).lower()
    metadata: dict[str, object] = {"name": name}
    if region is not None:
        metadata["annotations"] = {REGION: region}
    text = yaml_data({"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata, "spec": to_ack(payload)})
    missing = without_place(payload, UNKNOWN_TO_ACK)
    notes = (
        (
            f"the published CRD of ACK's TrainingJob has no {', '.join(missing)}: a cluster rejects or drops"
            " them unless its CRD is newer",
        )
        if missing
        else ()
    )
    return Rendering(text=text, notes=notes)
