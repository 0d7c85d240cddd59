"""Whether a merged document has the shape of a job, and what to tell its author where it has not."""
