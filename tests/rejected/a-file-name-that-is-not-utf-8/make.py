"""A name as an old archive leaves it; git would show it in octal."""

with open(b"src/caf\xe9.py", "w"):
    pass
