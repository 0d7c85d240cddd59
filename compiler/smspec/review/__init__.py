"""Compare two states of a job, classify every difference by its consequence, and report it.

Plans are compared, not texts: the same tag is the same image, the same TrainingJobName the same job. `compared` takes
two `JobVersion`s and returns `Change`s; each has a kind of `kinds`, which decides what it means for the job: a new
image, other data, lost checkpoints, more cost, more access; `COSMETIC` gets the remaining differences. Reports are
text, Markdown, JSON, and annotations. Of many jobs, a `ChangeGroup` is a change that several share, such as a new base
image, with the `Effect` that it has on each, and a `CeilingTotal` adds what they cost.

Values from a request may be secrets, so they are redacted before they are shown. The package must not know git or
files: a `State` is a compiled spec, wherever it comes from, and `smspec.cli` finds the two.
"""
