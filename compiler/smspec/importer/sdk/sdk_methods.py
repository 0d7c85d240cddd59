"""What methods of objects of the SDK and boto3 return, and what they change in their objects."""

from __future__ import annotations

from smspec.importer.sdk.arguments import FRAMEWORKS, own_hyperparameters, shared_hyperparameters
from smspec.importer.sdk.call_requests import region_of
from smspec.importer.sdk.sdk_facts import Surroundings, as_json_texts
from smspec.importer.sdk.values import Entries, SdkInstance, SdkUnknown, Value
from smspec.script.follow.values import UNKNOWN, Named


def result_of_method(owner: SdkInstance, call: SdkInstance, surroundings: Surroundings) -> Value:
    """Return the result of a method."""
    name = call.kind
    given = call.positional[0] if call.positional else next(iter(call.arguments.values()), None)
    if name == "default_bucket":
        bucket = owner.arguments.get("default_bucket")
        return surroundings.bucket if bucket is None else bucket
    if name == "upload_data":
        return SdkUnknown(is_text=True)
    if name == "set_hyperparameters":
        _set_hyperparameters(owner, call)
    elif name == "hyperparameters" and owner.kind.endswith((".Estimator", ".EstimatorBase")):
        return own_hyperparameters(owner) or UNKNOWN
    elif name.startswith("with_") and owner.kind.endswith(".ModelTrainer"):
        owner.arguments[name] = given if call.is_known else SdkUnknown(name)
        return owner
    elif name in ("client", "resource", "Session"):
        call.kind = f"{owner.kind}.{name}"
        if region_of(call) is None and region_of(owner) is not None:
            call.arguments["region_name"] = region_of(owner)
        return call
    elif name == "get_caller_identity":
        return Named("boto3.caller_identity")
    return UNKNOWN


def _set_hyperparameters(owner: SdkInstance, call: SdkInstance) -> None:
    known = shared_hyperparameters(owner) or owner.arguments.setdefault("set_hyperparameters", Entries({}))
    if isinstance(known, Entries):
        is_framework = owner.kind.rpartition(".")[2] in FRAMEWORKS
        known.values.update(as_json_texts(call.arguments) if is_framework else call.arguments)
        known.is_known &= call.is_known
