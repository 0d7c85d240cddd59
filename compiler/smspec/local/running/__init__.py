"""The course of one run, from its request to its end.

`local_run` is the order of steps. A `RunRequest` says what is asked for, a `TrainingRequest` reads the payload as
SageMaker does, a `RunDirectory` is what the run writes to. `host_layout` and `image_content` fill the directories of
hosts; `supervision` starts their processes and waits for them; `run_end` is the status and the last warnings.

What happens meanwhile is an `Event`, for whichever listener wants it. How a host is started must not be known here.
"""
