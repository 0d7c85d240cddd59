"""The review of many jobs at once: equal changes grouped, and their effects added up.

A `ChangeGroup` is a change that several jobs share, such as a new base image, with the `Effect` that it has on each. A
`CeilingTotal` adds what the jobs cost. Text and Markdown are made from the same groups. The package must not compare or
classify: it gets the reviews of the single jobs.
"""
