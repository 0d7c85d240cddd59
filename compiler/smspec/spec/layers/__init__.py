"""Merging of base specs, the job's own file, an overlay, and variable values into one spec.

An `Assembly` has the layers of a job and merges them with any of its overlays to one `Document`. Mappings merge key by
key, and everything else is replaced; null removes a key. Each value keeps the position of the file it came from, so
that a finding about a merged spec is shown at the line that set it. What is wrong with one layer does not hide faults
of the others.

The package reads no files: it gets their documents. It must not check whether the result is a job.
"""
