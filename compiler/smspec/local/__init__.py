"""Run a job on this machine with the generated files: hosts as processes, channels copied or fed, results collected.

`run_locally` is the entrance: a `LocalRun` finds the data, claims a run directory, lays out /opt/ml for each host,
starts the hosts, supervises and collects, and returns a `LocalOutcome`. A `RunRequest` has what a user asks for. How a
host is started is an `Engine`; everything else is the same for each of them. What happens is an event, and the printed
lines, the summary, and the report are made from events.

The hosts run the generated entrypoint and the runtime unchanged, because a run must show what SageMaker would do. Pipe
channels are fed by a separate program.

The rooms: `running` is the course of a run, `channels` its data, `watch` what is seen of its hosts meanwhile, `record`
what it shows and leaves. `feeder` and `engines/namespace/cell` are separate programs, which import nothing else of
smspec.

The package must not know commands or compile a spec: it gets the plan and the tree. It opens no connection except in
`s3`, for channels whose data is there.
"""
