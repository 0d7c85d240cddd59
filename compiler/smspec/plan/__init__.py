"""What will be done, decided: one plan for the image, one for the run, one for the request."""
