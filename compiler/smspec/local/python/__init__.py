"""The Python of a local job: a local interpreter, and packages for the job alone."""
