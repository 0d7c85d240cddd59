"""The entry point of `.pre-commit-hooks.yaml`: ``smspec validate`` over the repository, which may have no jobs yet.

A commit can break jobs whose files it does not touch: it may change or delete a base spec, a script, or a policy, or
add a job that writes to the output of a different one. So the hook ignores the list of changed files and checks
every job.
"""

from __future__ import annotations

import sys

from smspec.cli import main


def check(words: list[str]) -> int:
    """Run ``smspec validate`` with these arguments and return its exit status; 0 if there is no job to check."""
    words = words or ["."]
    status = main(["validate", *words])
    return 0 if status == 2 and _is_without_jobs(words) else status


def _is_without_jobs(words: list[str]) -> bool:
    """Return whether the paths in the arguments contain no job: a repository may have its hooks before its specs."""
    # Imported late: a repository with jobs does not need it.
    import argparse

    from smspec.cli.validate import add_arguments
    from smspec.pipeline.input_cache import InputCache
    from smspec.pipeline.spec_discovery import NoJobs, find_job_specs
    from smspec.spec.layers.variables import OptionError

    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    add_arguments(parser)
    try:
        args = parser.parse_args(words)
        find_job_specs(args.paths, InputCache(args.root))
    except NoJobs as none:
        return not none.outside
    except (OptionError, argparse.ArgumentError, SystemExit):
        pass  # it was reported
    return False


if __name__ == "__main__":
    sys.exit(check(sys.argv[1:]))
