"""Rules about parts of a job that contradict each other: one file per rule, named after the problem."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from smspec.diagnostics import Finding
from smspec.rules import (
    augmented_view_of_other_data,
    channels_with_the_same_variable,
    conflicting_epochs,
    entry_point_unsupported_by_the_toolkit,
    hyperparameter_that_cannot_become_an_argument,
    hyperparameters_too_large_for_a_variable,
    hyperparameters_with_the_same_variable,
    image_delivery_with_an_existing_image,
    isolated_job_that_downloads_its_source,
    isolated_job_that_installs_packages,
    kms_key_without_an_upload,
    missing_handler,
    missing_script,
    non_integer_epochs,
    oversized_argument,
    pipe_channel_with_several_readers,
    pipe_loop_with_distribution,
    pipe_loop_without_a_pipe_channel,
    platform_of_a_different_architecture,
    repository_without_a_region,
    reserved_channel,
    reserved_hyperparameter,
    s3_keys_on_a_file_system_channel,
    script_without_source,
    secret_in_the_image,
    secret_instead_of_its_variable,
    smdataparallel_on_a_newer_base,
    source_without_an_entry_point,
    source_without_an_image,
    torchrun_with_a_shell_script,
    unavailable_entry_point,
    unlisted_region,
    unsafe_script_name,
    unsupported_launcher_option,
    unusable_base_image,
    unused_arguments_style,
    unused_distribution,
    view_of_a_channel_without_a_stream,
    view_of_an_unknown_channel,
    vpc_job_that_installs_packages,
)
from smspec.source.listing import Listing
from smspec.spec.model import JobSpec

RULES: tuple[Callable[[JobSpec, Listing], Iterator[Finding]], ...] = (
    pipe_loop_with_distribution.check,
    conflicting_epochs.check,
    non_integer_epochs.check,
    repository_without_a_region.check,
    unlisted_region.check,
    image_delivery_with_an_existing_image.check,
    kms_key_without_an_upload.check,
    unavailable_entry_point.check,
    script_without_source.check,
    source_without_an_entry_point.check,
    source_without_an_image.check,
    unusable_base_image.check,
    missing_script.check,
    unsafe_script_name.check,
    missing_handler.check,
    torchrun_with_a_shell_script.check,
    unused_distribution.check,
    smdataparallel_on_a_newer_base.check,
    entry_point_unsupported_by_the_toolkit.check,
    unsupported_launcher_option.check,
    unused_arguments_style.check,
    reserved_channel.check,
    reserved_hyperparameter.check,
    hyperparameter_that_cannot_become_an_argument.check,
    view_of_an_unknown_channel.check,
    view_of_a_channel_without_a_stream.check,
    pipe_loop_without_a_pipe_channel.check,
    s3_keys_on_a_file_system_channel.check,
    augmented_view_of_other_data.check,
    channels_with_the_same_variable.check,
    hyperparameters_with_the_same_variable.check,
    pipe_channel_with_several_readers.check,
    isolated_job_that_downloads_its_source.check,
    isolated_job_that_installs_packages.check,
    vpc_job_that_installs_packages.check,
    hyperparameters_too_large_for_a_variable.check,
    oversized_argument.check,
    platform_of_a_different_architecture.check,
    secret_in_the_image.check,
    secret_instead_of_its_variable.check,
)


LOOK_FOR_FILES = frozenset((missing_script.check, missing_handler.check))
"""Rules that report a file that is not in the source."""


def lint(job: JobSpec, source: Listing, *, source_is_known: bool = True) -> list[Finding]:
    """Return every contradiction in a job. ``source`` lists the files of the source directory that the job uses.

    ``source_is_known`` False: the directory could not be listed, so rules about its files do not run.
    """
    rules = RULES if source_is_known else [rule for rule in RULES if rule not in LOOK_FOR_FILES]
    return [finding for rule in rules for finding in rule(job, source)]
