"""Programs for the Python of an image: standard library only, Python 3.8 syntax, nothing of the compiler."""
