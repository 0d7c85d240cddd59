"""Feed the FIFOs of Pipe channels, epoch by epoch, in place of SageMaker's data agent.

A separate program (``python -I path/to/feeder plan.json``) that needs only the standard library and Python 3.8, so that
it can also run in a container next to the job. Its modules import each other relatively for that reason. `objects` and
`order` also determine the content of a File channel: the rule of which host gets which object is the same.
"""
