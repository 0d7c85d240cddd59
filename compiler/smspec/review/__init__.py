"""What a change of a job means: two states compared, every difference classed by its consequence, and how it is told.

Plans are compared, not texts: the same tag is the same image, the same TrainingJobName the same job.
"""
