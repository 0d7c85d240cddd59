"""Rehearse what SageMaker does to a job: run it again and again, each time disturbed, and compare it with itself.

A `Promise` is one row of the result. It runs `Trial`s through the local run and returns an `Outcome`.
"""
