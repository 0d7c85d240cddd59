"""Compare two states of a job, classify every difference by its consequence, and report it.

Plans are compared, not texts: the same tag is the same image, the same TrainingJobName the same job.
"""
