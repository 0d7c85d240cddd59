"""The CreateTrainingJob API: its shapes, its limits, and what it refuses. Knows requests, not job specs."""
