"""The CreateTrainingJob API: its shapes, its limits, and what it rejects. Knows requests, not job specs."""
