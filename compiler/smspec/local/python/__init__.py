"""The Python of a local job: a local interpreter, and packages for the job alone.

A `JobPython` finds an `Interpreter` of the version that the image has and installs the packages of the image in an
environment that an `EnvironmentCache` keeps for the next run. Each host gets its own environment above it. The Python
that runs smspec, and those of the user, are never changed. Engines that run the image do not need the package.
"""
