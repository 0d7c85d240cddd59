"""Make the prediction of a finished run."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from smspec.local.channels.channel_data import ChannelData
from smspec.local.prediction.assumptions import assumptions
from smspec.local.prediction.host_limits import HostLimits, host_limits
from smspec.local.prediction.job_data import JobChannel, JobData
from smspec.local.prediction.local_data import LocalData, is_of_spec, local_data
from smspec.local.prediction.prediction import Prediction, WaitPrice, predicted_modes
from smspec.local.prediction.reading import Reading, SeenRun, reading_of
from smspec.local.prediction.s3_service import DOCUMENTED, S3Service
from smspec.local.record.summary import RunRecord, Summary
from smspec.local.running.request import RunRequest
from smspec.local.running.run_directory import RunDirectory
from smspec.local.running.training_request import Host, TrainingRequest
from smspec.local.s3 import is_s3
from smspec.local.watch.file_watch import Opened
from smspec.rules.pipe import readers
from smspec.service.job_costs import JobPrices
from smspec.spec.model import JobSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedRun:
    """What is predicted, before it runs: the job, and its channels with data in S3, with the data of the run.

    ``hosts``: those of the run. ``rate``: the limit of Pipe channels, if there is one. ``prices``: those of the job.
    """

    job: JobSpec
    training: TrainingRequest
    data: tuple[ChannelData, ...]
    hosts: tuple[Host, ...]
    rate: int | None
    prices: JobPrices | None

    @property
    def is_known(self) -> bool:
        """Whether the size of any channel in S3 is known, so that there may be a prediction."""
        return any(self._declared(data) is not None or is_of_spec(data) for data in self.data)

    def directories(self, directory: RunDirectory) -> dict[tuple[str, str], str]:
        """Return (host, channel) → the directory of files whose reading a prediction depends on."""
        if not self.is_known:
            return {}
        return {
            (host.name, data.channel.name): os.path.join(directory.host(host.name).data, data.channel.name)
            for data in self.data
            if not data.is_piped
            for host in data.channel.hosts(self.hosts)
        }

    def prediction(
        self,
        summary: Summary,
        record: RunRecord,
        opened: Mapping[tuple[str, str], Opened],
        s3: S3Service = DOCUMENTED,
        *,
        has_resumed: bool,
    ) -> Prediction | None:
        """Return the prediction; None without channels in S3."""
        if not self.data:
            return None
        # Without any size, nothing is predicted, and the data need not be listed.
        local = local_data(self.data if self.is_known else (), self.hosts)
        unknown: list[str] = []
        channels = self._channels(local, unknown)
        hosts = self.training.hosts()
        limits = self._limits(hosts, unknown)
        if unknown:
            return Prediction(unknown=tuple(unknown), is_expected=self.is_known)
        of_job = JobData(channels=channels, hosts=hosts, limits=limits, readers=readers(self.job))
        if not any(channel.size and channel.channel.hosts(hosts) for channel in channels):
            return None
        found = self._reading(summary, record, opened, local, has_resumed=has_resumed)
        reading = None if isinstance(found, str) else found
        if isinstance(found, str):
            unknown.append(f"the time and throughput of the script are not predicted: {found}")
        return Prediction(
            is_expected=True,
            instances=Counter(host.instance_type for host in hosts),
            data=sum(channel.size for channel in channels),
            objects=_total([channel.objects for channel in channels]),
            modes=predicted_modes(of_job, reading, s3),
            reading=reading,
            max_runtime=self.training.max_runtime,
            price=self._price(hosts),
            assumptions=tuple(assumptions(of_job, reading, s3, local, len(self.hosts))),
            unknown=tuple(unknown),
        )

    def _declared(self, data: ChannelData) -> int | None:
        return next((channel.size for channel in self.job.channels if channel.name == data.channel.name), None)

    def _channels(self, local: LocalData, unknown: list[str]) -> tuple[JobChannel, ...]:
        found = []
        for data in self.data:
            name, declared, extent = data.channel.name, self._declared(data), local.extents.get(data.channel.name)
            if is_of_spec(data) and extent is not None:
                found.append(JobChannel(channel=data.channel, size=extent.bytes, objects=extent.files))
            elif declared is None:
                unknown.append(f"the size of channel `{name}` in S3 is unknown: set `channels.{name}.size`")
            else:
                # Objects of the run without content say nothing about those of the job.
                of_run = extent if extent is not None and extent.bytes else None
                objects = None if of_run is None else max(1, round(declared * of_run.files / of_run.bytes))
                found.append(JobChannel(channel=data.channel, size=declared, objects=objects, is_estimated=True))
        return tuple(found)

    def _limits(self, hosts: tuple[Host, ...], unknown: list[str]) -> dict[str, HostLimits]:
        found = {}
        for kind in dict.fromkeys(host.instance_type for host in hosts):
            limits = host_limits(kind, self.training.volume_gb)
            if limits is None:
                unknown.append(f"the bandwidth of `{kind}` is unknown")
            else:
                found[kind] = limits
        return found

    def _reading(
        self,
        summary: Summary,
        record: RunRecord,
        opened: Mapping[tuple[str, str], Opened],
        local: LocalData,
        *,
        has_resumed: bool,
    ) -> Reading | str:
        if summary.status != "Completed":
            return "the job did not complete"
        if has_resumed:
            return "the job resumed an earlier run, and read only a part of its data"
        missing = next((data.channel.name for data in self.data if data.channel.name not in local.extents), None)
        if missing is not None:
            return f"the size of the data of `{missing}` in this run is unknown"
        slowed = ""
        if self.rate is not None:
            slowed = "`--rate` limited the channels"
        elif any(is_s3(data.source) and data.is_piped for data in self.data):
            slowed = "the data came from S3 during the run"
        return reading_of(
            SeenRun(
                flows=summary.flows,
                balances=record.balances,
                hosts=summary.hosts,
                sizes=local.sizes,
                slowed=slowed,
                opened=opened,
            )
        )

    def _price(self, hosts: tuple[Host, ...]) -> WaitPrice | None:
        if self.prices is None:
            return None
        known = [self.prices.price(host.instance_type) for host in hosts]
        if not known or any(price is None for price in known):
            return None
        prices = [price for price in known if price is not None]
        if len({price.currency for price in prices}) > 1:
            return None
        return WaitPrice(
            per_hour=float(sum(price.amount for price in prices)),
            currency=prices[0].currency,
            as_of=min((price.as_of for price in prices if price.as_of), default=""),
        )


def predicted_run(
    job: JobSpec,
    training: TrainingRequest,
    data: tuple[ChannelData, ...],
    hosts: tuple[Host, ...],
    request: RunRequest,
    generated: Mapping[str, str],
) -> PredictedRun | None:
    """Return what to predict from a run; None for one whose faults or interruption change what it measures."""
    if not request.predicts or request.injection or request.faults or request.interruption:
        return None
    channels = tuple(each for each in data if each.channel.name not in generated and each.channel.uri is not None)
    return PredictedRun(
        job=job, training=training, data=channels, hosts=hosts, rate=request.rate, prices=request.prices
    )


def _total(objects: Sequence[int | None]) -> int | None:
    known = [count for count in objects if count is not None]
    return sum(known) if len(known) == len(objects) else None
