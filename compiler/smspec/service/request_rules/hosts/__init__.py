"""ResourceConfig: the instances of the job."""
