"""The Python of a local job: an interpreter of this machine, and packages that belong to the job alone."""
