"""smspec: compile one reviewed YAML job spec into everything an Amazon SageMaker training job needs."""

__version__ = "0.1.0"
