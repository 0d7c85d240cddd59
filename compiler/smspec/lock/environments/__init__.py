"""Resolve the packages of images: files with hashes, and what scripts can import from each.

`lock_environment` answers a `Question`, the requirements of one image, with a `NewEnvironment`: an entry of the lock
and its requirements file. A resolver chooses versions; the modules of each package are read from the lists of files in
wheels, without downloading the rest. What cannot be resolved is explained to the author at the line of the requirement.

The package must not install anything, and no package runs code unless the user allows builds.
"""
