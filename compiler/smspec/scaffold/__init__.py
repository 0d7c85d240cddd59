"""A spec for a script that exists: what its text shows becomes keys, and what it leaves open is listed.

`spec_of_script` takes a `ReadSource` and returns a `ScriptSpec`: arguments of the script become hyperparameters, the
channels that it reads become channels, its imports become packages, and printed metrics become metrics. Comments list
what the text leaves open.

The script is read as `validate` reads it, by `smspec.script`, and never run, so a new spec passes the checks that read
the script. Only `smspec init` imports the package. It must not write files or overwrite a spec: `smspec.cli` does.
"""

SOURCE = "src"
"""The directory of a script that `smspec init` finds by itself."""
