"""Read a Python script without running it: its arguments, channels, and hyperparameters.

This package does not know job specs. What the text does not show is omitted: no finding is based on a guess.
"""
