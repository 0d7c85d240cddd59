"""TrainingImage, if it is an image of AWS: its account, repository, and tag, and the instances it runs on."""
