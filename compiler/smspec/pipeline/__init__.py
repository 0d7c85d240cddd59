"""Compile a spec: gather its inputs from files, then compile them without any I/O.

`gather` reads everything that a job needs from the disk and returns `Inputs`. `compile_spec` returns a `Compilation`:
`Compiled`, with the plan, or `Faulty`, with all independent errors. It reads no file, no clock, and no environment, so
the same inputs always give the same result. `SOURCES` in `job_findings` lists, in order, what finds errors in a job.

For many specs, `validate_specs` shares what they have in common: an `InputCache` for files, one process per share of a
large repository, and `JobFacts` to compare the jobs with each other.

This is where the packages below meet; they do not know each other more than `docs/architecture.md` shows. The package
must not print, write, or know a command. It never loads boto3 or opens a socket.
"""
