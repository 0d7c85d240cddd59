"""How S3 and SageMaker transfer data, as far as AWS documents it: in values of which only bounds are known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Interval:
    """A value between ``least`` and ``most``."""

    least: float
    most: float

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.least + other.least, self.most + other.most)

    def scaled(self, factor: float) -> Interval:
        """Return the interval of ``factor`` times the value; the factor is not negative."""
        return Interval(self.least * factor, self.most * factor)


NONE = Interval(0.0, 0.0)


def hull(intervals: Iterable[Interval]) -> Interval:
    """Return the smallest interval that contains all of them; there is at least one."""
    known = list(intervals)
    return Interval(min(each.least for each in known), max(each.most for each in known))


def slowest(intervals: Iterable[Interval]) -> Interval:
    """Return the largest of several values."""
    known = list(intervals)
    return Interval(max(each.least for each in known), max(each.most for each in known))


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Service:
    """``request_rate``: bytes per second of one request. ``latency``: seconds until its first byte.

    ``requests``: how many SageMaker makes at once, at least. ``download_rate``: bytes per second of a download in File
    mode, at least, if the instance is not slower. ``range``: bytes of one request for a part of a large object.
    ``listed``: keys in the response to one request.
    """

    request_rate: float
    latency: Interval
    requests: int
    download_rate: float
    range: int
    listed: int = 1000


DOCUMENTED = S3Service(
    # https://docs.aws.amazon.com/AmazonS3/latest/userguide/optimizing-performance-design-patterns.html: one request for
    # each 85 to 90 MB/s; small requests often take tens of milliseconds.
    request_rate=85e6,
    # https://docs.aws.amazon.com/AmazonS3/latest/userguide/optimizing-performance.html: the first byte comes after
    # roughly 100 to 200 ms.
    latency=Interval(0.02, 0.2),
    # SageMaker publishes no number; this is the default of the transfers of boto3 and of the AWS CLI.
    requests=10,
    # The same page on design patterns: ranges of 8 to 16 MB.
    range=16_000_000,
    # https://docs.aws.amazon.com/sagemaker/latest/dg/model-access-training-data-best-practices.html: 50 GB in objects
    # of 100 MB take about 5 minutes.
    download_rate=50e9 / 300,
)
