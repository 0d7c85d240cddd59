"""XGBoost reads data without a content type as LIBSVM."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.built_in_algorithm import built_in_algorithm
from smspec.service.member_names import shown
from smspec.service.request import Request

RULE = Rule("SM397", "content type of XGBoost data not set", "warning", evidence="devguide")

_LIBSVM = ("libsvm", "svmlight", ".svm")


def check(request: Request) -> Iterator[Finding]:
    """Warn about a channel of XGBoost without a content type, unless its address says LIBSVM."""
    algorithm = built_in_algorithm(request)
    if algorithm is None or algorithm.name != "xgboost":
        return
    for channel in request.channels:
        address = str(channel.s3.get("S3Uri", "")).lower()
        is_libsvm = any(word in address for word in _LIBSVM)
        if channel.name in algorithm.channels and not channel.members.get("ContentType") and not is_libsvm:
            word = request.word("ContentType", f"channels.{shown(channel.name)}.content_type")
            of = "" if request.in_spec_words else f" for {channel.label}"
            yield RULE.at(
                (*channel.path, "ContentType"),
                f"`{word}` is not set{of}: `xgboost` reads the data as LIBSVM",
                help="set it to `text/csv`, `text/libsvm`, or `application/x-parquet`",
                on="key",
            )
