"""Rehearse what SageMaker does to a job: run it again and again, each time disturbed, and compare it with itself.

A `Promise` is one row of the result. It runs `Trial`s through the local run and returns a `PromiseOutcome`. A `Trial`
is one run with its directory; a `TrialCourse` is a job that is interrupted and started again with the checkpoints of
the run before. `Moments` draws when to interrupt, from a seed, so that a rehearsal can be repeated. A
`ResultComparison` judges models and metrics by how much undisturbed runs differ from each other.

`rehearse_job` is the entrance; its `Report` is printed as text, JSON, or JUnit. The package must not start processes
itself: it asks `smspec.local` for runs and for the faults to inject. It never imports a framework to read a model:
`values` reads the files with the standard library.
"""
