"""Compare two states of a job, classify every difference by its consequence, and report it.

Plans are compared, not texts: the same tag is the same image, the same TrainingJobName the same job. `compared` takes
two `Version`s and returns `Change`s; each has a kind of `kinds`, which decides what it means for the job: a new image,
other data, lost checkpoints, more cost, more access; `cosmetic` gets the remaining differences. Reports are text,
Markdown, JSON, and annotations; `fleet` groups equal changes of many jobs.

Values from a request may be secrets, so they are redacted before they are shown. The package must not know git or
files: a `State` is a compiled spec, wherever it comes from, and `smspec.cli` finds the two.
"""
