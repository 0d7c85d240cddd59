"""Check whether a merged document has the shape of a job, and explain where it does not."""
