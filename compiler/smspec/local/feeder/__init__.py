"""Plays SageMaker's data agent: feeds the FIFOs of Pipe channels, epoch by epoch.

A program of its own (``python -I path/to/feeder plan.json``) that needs the standard library and Python 3.8 only, so
that it can also run inside a container beside the job. Its modules import each other relatively for that reason.
`objects` and `ordering` also decide what a File channel holds: there is one law of which host gets which object.
"""
