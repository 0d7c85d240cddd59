"""The engines of `smspec run`: one file or package each. A line in `ENGINES`, choice.py, makes one known.

An `Engine` is everything of a run that depends on how its hosts are started: processes of this machine, processes in
namespaces, or containers. It gets a `JobToRun` and returns a `RunningHost` for each host. Layout, feeders, supervision,
and results are the same for all, so an engine must not know them. A fault that only some engines can inject is refused
by the others with a reason. A run that names no engine gets the best one that needs nothing installed.
"""
