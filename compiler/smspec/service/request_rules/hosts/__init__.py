"""ResourceConfig: what the job runs on."""
