"""One spec from several files: bases, the job's own file, an overlay, and the values of its variables."""
