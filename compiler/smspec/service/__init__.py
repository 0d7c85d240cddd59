"""The CreateTrainingJob API: its shapes, its limits, and its rules. This package knows requests, not job specs."""
