"""A Python program, read and never run: which arguments it takes, which channels and hyperparameters it asks for.

Nothing here knows a job spec. What cannot be told from the text is left out: a program is never blamed on a guess.
"""
