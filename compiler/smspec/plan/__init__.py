"""The decisions about a job: one plan for the image, one for the run, one for the request."""
