"""What only AWS knows about a job, before anything is created: a row for each thing, ok, wrong, or not checked."""
