"""The proof of a job on this machine: its script compiled, imported, and parsed by the Python of its image.

It runs code of the author, in processes that can write nowhere else and reach no network where the system supports it.
`check_job` makes a `Proof` for each different job of a spec: a value with findings, and with what was not proven and
why. A `Proving` is the work for one: syntax, then imports, then the start of the script, which ends at its parser.

`driver` is what the Python of the image runs, and `confinement` the program that takes the network, other processes,
and files from it. Both are standalone: they import nothing of the compiler. The machinery of hosts is that of
`smspec.local`.

The package repeats no check that reads the script: those are `smspec.rules`, and a proof only adds what running shows.
"""
