"""The plan of a job, and its CreateTrainingJob request, with the key of the spec for each part.

Making it never fails: the rules and the limits of the API report errors in a job. `sent_keys` sends most keys, as the
table defines them; this module handles the irregular ones, such as those of channels, and what no key sets.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable

from smspec.plan import BuildInputs, ImagePlan, Plan, RequestPlan, training_job_name
from smspec.plan.delivery import Delivery, launcher_name, plan_delivery, plan_run, plan_settings
from smspec.plan.draft import Draft, SentKey, encoded, put_keys, sent_keys
from smspec.plan.image_planning import plan_image
from smspec.service.shapes import in_api_order, items, member
from smspec.source import Path
from smspec.source.frozen import ByIdentity
from smspec.spec.keys import ROW
from smspec.spec.lock import Lock
from smspec.spec.model import BuiltImage, Channel, ExistingImage, JobSpec, Stopping
from smspec_runtime.run_plan import SETTINGS_HYPERPARAMETER, RunPlan, RunSettings

ONE_DAY = 86_400
"""The default maximum runtime in seconds, which is the API's; it is written out because the API requires the member."""

VALUE_LIMIT = 2500
"""The maximum length of a hyperparameter value in characters (API shape HyperParameterValue)."""

_S3 = ("DataSource", "S3DataSource")

_DRAFTS: ByIdentity[Draft] = ByIdentity()
_PARTS: ByIdentity[list[Draft]] = ByIdentity()

_OUTSIDE = 2
"""Members of a channel begin with ``InputDataConfig.*`` in the table."""


def make_plan(job: JobSpec, build_inputs: BuildInputs) -> Plan:
    """Return all decisions about a job: its image, how it is started, its request, and the files for S3."""
    run = plan_run(job)
    image = plan_image(job, run, build_inputs)
    delivery = plan_delivery(job, run, build_inputs)
    request, settings = plan_request(job, image, run, delivery, build_inputs.lock)
    return Plan(
        name=job.name,
        image=image,
        run=run,
        settings=settings,
        request=request,
        uploads=delivery.uploads,
        queue=job.queue,
    )


def plan_request(
    job: JobSpec, image: ImagePlan | None, run: RunPlan | None, delivery: Delivery, lock: Lock | None = None
) -> tuple[RequestPlan, RunSettings | None]:
    """Return the request, and the settings that it transports; None if the smspec runtime is not used."""
    draft = Draft()
    channels = _PARTS.of("channels", job.channels, lambda: [channel_draft(channel) for channel in job.channels])
    settings = None if run is None else plan_settings(job, _attributes(channels), delivery.archive_digest)
    _put_hyperparameters(draft, job, delivery, settings)
    _put_algorithm(draft, job, image, delivery, lock)
    _add_channels(draft, job, channels, delivery)
    _add_stopping(draft, job)
    draft.add(_part("tags", (job.tags,), lambda part: _put_tags(part, job)))
    for key in sent_keys(""):
        _add_key(draft, key, job)
    _place_what_is_not_there(draft, job)
    draft.patch(job.api, ("api",))
    _name(draft, job)
    payload = in_api_order(draft.members, ordered=draft.shared)
    request = RequestPlan(
        payload=payload,
        origins=draft.origins,
        names=frozenset(draft.names),
        # The name is set after the patch, so removing it there has an effect.
        idle=frozenset(draft.idle) - {("api", "TrainingJobName")},
    )
    return request, settings


def _part(subject: Hashable, values: tuple[object, ...], fill: Callable[[Draft], None]) -> Draft:
    """Return the part of a request that ``fill`` puts into a draft: the same for all jobs that share ``values``."""

    def filled() -> Draft:
        part = Draft()
        fill(part)
        part.members = in_api_order(part.members)
        return part

    return _DRAFTS.of_all(subject, values, filled)


def _add_key(draft: Draft, key: SentKey, job: JobSpec) -> None:
    """Send a top-level key."""
    value = getattr(job, key.name)
    if value is None or isinstance(value, str):
        put_keys(draft, (key,), job, ())
    else:
        draft.add(_part(key.name, (value,), lambda part: put_keys(part, (key,), job, ())))


def _name(draft: Draft, job: JobSpec) -> None:
    """Name the job by the digest of the rest of its request, unless the author named it."""
    if "TrainingJobName" in job.api:
        return
    if job.job_name is not None:
        draft.put(("TrainingJobName",), job.job_name, ("job_name",))
    else:
        draft.put(("TrainingJobName",), training_job_name(job.name, draft.members), ("name",))


def _put_hyperparameters(draft: Draft, job: JobSpec, delivery: Delivery, settings: RunSettings | None) -> None:
    draft.place(("HyperParameters",), ("hyperparameters",))
    for hyperparameter in job.hyperparameters:
        name = hyperparameter.name
        text = encoded(hyperparameter, job.hyperparameter_encoding)
        if not text and job.entry_point is not None and job.hyperparameter_encoding != "raw":
            text = '""'  # SageMaker drops an empty string; the runtime and the toolkit decode this to one.
        draft.put(("HyperParameters", name), text, ("hyperparameters", name))
    for hyperparameter in delivery.hyperparameters:
        name = hyperparameter.name
        draft.put(("HyperParameters", name), encoded(hyperparameter, "json"), _cause(name))
    if settings is not None and settings != RunSettings():
        members = {name: value for name, value in settings._asdict().items() if value not in (None, {}, [])}
        text = json.dumps(members, sort_keys=True, separators=(",", ":"))
        for number, start in enumerate(range(0, len(text), VALUE_LIMIT)):
            name = f"{SETTINGS_HYPERPARAMETER}_{number}" if number else SETTINGS_HYPERPARAMETER
            draft.put(("HyperParameters", name), text[start : start + VALUE_LIMIT], ("entry_point",))
        for variable in settings.secrets:
            draft.place(("HyperParameters", SETTINGS_HYPERPARAMETER, "secrets", variable), ("secrets", variable))
        launcher = launcher_name(job.distribution) or ""
        for option in settings.launcher:
            # Inside of a value: rules about what a launcher starts find the key there.
            draft.place(
                ("HyperParameters", SETTINGS_HYPERPARAMETER, "launcher", option), ("distribution", launcher, option)
            )


def _cause(name: str) -> tuple[str, ...]:
    """Return the key of the spec that requires a generated hyperparameter."""
    if name == "sagemaker_program":
        return ("entry_point", "script")
    if name == "sagemaker_mpi_num_of_processes_per_host":
        return ("distribution", "mpi", "processes_per_host")
    return ("source",) if name == "sagemaker_submit_directory" else ("distribution",)


def _put_algorithm(draft: Draft, job: JobSpec, image: ImagePlan | None, delivery: Delivery, lock: Lock | None) -> None:
    here = "AlgorithmSpecification"
    draft.place((here,), ("image",))
    draft.place((here, "TrainingInputMode"), ("input_mode",))
    draft.place((here, "TrainingImage"), ("image",))
    if image is not None:
        is_named = isinstance(job.image, BuiltImage) and job.image.repository is not None
        draft.put((here, "TrainingImage"), image.uri, ("image", "repository") if is_named else ("image",))
    elif isinstance(job.image, ExistingImage):
        draft.put((here, "TrainingImage"), lock.sent(job.image.uri) if lock else job.image.uri, ("image",))
    if job.image is not None or job.api.get("ServerlessJobConfig") is None:
        # A serverless job has no algorithm of its own; every other job sets its input mode.
        draft.put((here, "TrainingInputMode"), job.input_mode, ("input_mode",))
    draft.put((here, "ContainerEntrypoint"), delivery.entrypoint, ("entry_point",))
    if job.delivery is None:
        for index in range(len(delivery.entrypoint)):
            draft.place((here, "ContainerEntrypoint", index), ("entry_point", "command", index))


def _attributes(channels: list[Draft]) -> dict[str, list[str]]:
    """Return the attribute names of the channels that have any: SageMaker does not pass them to the container."""
    named = {str(member(channel.members, "ChannelName")): channel.members for channel in channels}
    attributes = {name: items(channel, *_S3, "AttributeNames") for name, channel in named.items()}
    return {name: [str(attribute) for attribute in found] for name, found in attributes.items() if found}


def _add_channels(draft: Draft, job: JobSpec, channels: list[Draft], delivery: Delivery) -> None:
    are_assigned = any(items(channel.members, *_S3, "InstanceGroupNames") for channel in channels)
    if are_assigned or delivery.channels:
        _put_channels(draft, job, channels, delivery, _group_names(job) if are_assigned else [])
    else:
        draft.add(_part("channels", (channels,), lambda part: _put_channels(part, job, channels, delivery, [])))


def _put_channels(draft: Draft, job: JobSpec, channels: list[Draft], delivery: Delivery, groups: list[object]) -> None:
    here = "InputDataConfig"
    # A rule rejects a channel of the author's with such a name; do not report it twice.
    taken = {channel.name for channel in job.channels}
    generated = [generated_channel(name, uri, groups) for name, uri in delivery.channels if name not in taken]
    draft.put((here,), (*(channel.members for channel in channels), *generated), ("channels",))
    for index, channel in enumerate(channels):
        item: Path = (here, index)
        for path, origin in channel.origins.items():
            draft.place(item + path, origin)
        draft.names |= {item + path for path in channel.names}
        draft.idle |= channel.idle
    # The generated channels are below one of these two prefixes.
    prefix = ("source", "s3") if job.source and job.source.s3 else ("output", "s3")
    for index in range(len(channels), len(channels) + len(generated)):
        draft.place((here, index), ("source",))
        draft.place((here, index, *_S3, "S3Uri"), prefix)


def _group_names(job: JobSpec) -> list[object]:
    """Return the names of all instance groups; those of an `api` patch replace the others."""
    patched = member(job.api, "ResourceConfig", "InstanceGroups")
    if isinstance(patched, list):
        return [member(group, "InstanceGroupName") for group in patched]
    return [group.name for group in job.hosts.groups] if job.hosts else []


def _place_what_is_not_there(draft: Draft, job: JobSpec) -> None:
    """Set the origin of missing checkpoints or a missing network to the key that requires them."""
    if job.checkpoints is None:
        # Only a job that may be interrupted needs them.
        draft.place(("CheckpointConfig",), _spot(job))
    if job.network is None:
        draft.place(("VpcConfig",), _needs_a_vpc(draft))
        # Only a Marketplace algorithm needs this.
        draft.place(("EnableNetworkIsolation",), ("api", "AlgorithmSpecification", "AlgorithmName"))


def _needs_a_vpc(draft: Draft) -> Path:
    """Return the key that requires a network for the job: a missing one is reported there."""
    files = ("DataSource", "FileSystemDataSource")
    for index, channel in enumerate(items(draft.members, "InputDataConfig")):
        if member(channel, *files):
            return draft.origins.get(("InputDataConfig", index, *files), ("channels",))
    return ("api", "AlgorithmSpecification", "TrainingImageConfig", "TrainingRepositoryAccessMode")


def _add_stopping(draft: Draft, job: JobSpec) -> None:
    by_patch = "EnableManagedSpotTraining" in job.api
    draft.add(_part(("stopping", by_patch), (job.stopping, job.spot), lambda part: _put_stopping(part, job)))


def _put_stopping(draft: Draft, job: JobSpec) -> None:
    here = "StoppingCondition"
    draft.place((here,), ("stopping",))
    # The one member that is sent empty: the API requires it, and the author set no limit.
    draft.members[here] = {}
    stopping = Stopping(max_runtime=ONE_DAY) if job.stopping is None else job.stopping
    put_keys(draft, sent_keys("stopping"), stopping, ("stopping",))
    if job.spot is not None:
        draft.put(("EnableManagedSpotTraining",), True, ("spot",))
        put_keys(draft, sent_keys("spot"), job.spot, ("spot",))
    elif "EnableManagedSpotTraining" in job.api:
        draft.place((here, "MaxWaitTimeInSeconds"), _spot(job))


def _spot(job: JobSpec) -> Path:
    """Return the key that enables spot training: what is missing for it is reported there."""
    return ("api", "EnableManagedSpotTraining") if job.spot is None else ("spot",)


def _put_tags(draft: Draft, job: JobSpec) -> None:
    """Send tags in the author's order."""
    draft.put(("Tags",), tuple({"Key": key, "Value": value} for key, value in job.tags.items()), ("tags",))
    for index, key in enumerate(job.tags):
        draft.place(("Tags", index), ("tags", key))
        draft.names.add(("Tags", index, "Key"))


def channel_draft(channel: Channel) -> Draft:
    """Return the channel's part of the request, its own `api` patch applied."""
    draft = Draft()
    here: Path = ("channels", channel.name)
    draft.place((), here)
    draft.put(("ChannelName",), channel.name, here)
    draft.names.add(("ChannelName",))
    # Required by the API: a channel without a source has an empty one, which is reported as such.
    draft.members["DataSource"] = {}
    draft.place(("DataSource",), here)
    keys = sent_keys("channels.*", _OUTSIDE)
    if channel.file_system:
        draft.place(ROW["channels.*.file_system"].steps[_OUTSIDE:], (*here, "file_system"))
        file_system = sent_keys("channels.*.file_system", _OUTSIDE)
        put_keys(draft, file_system, channel.file_system, (*here, "file_system"))
    if channel.file_system and channel.s3 is None:
        keys = tuple(key for key in keys if key.member[:2] != _S3)
    else:
        draft.place(_S3, here)
        if channel.s3 is not None or channel.s3_data_type != "S3Prefix":
            draft.put((*_S3, "S3DataType"), channel.s3_data_type, (*here, "s3_data_type"))
    put_keys(draft, keys, channel, here)
    draft.patch(channel.api, (*here, "api"))
    return draft


def generated_channel(name: str, uri: str, groups: list[object]) -> dict[str, object]:
    """Return a channel that delivers generated files to every host.

    ``groups`` are the names of all groups of the job, if any channel names one: the API asks for all or none.
    """
    s3: dict[str, object] = {"S3DataType": "S3Prefix", "S3Uri": uri, "S3DataDistributionType": "FullyReplicated"}
    if groups:
        s3["InstanceGroupNames"] = groups
    return {"ChannelName": name, "DataSource": {"S3DataSource": s3}, "InputMode": "File"}
