"""The settings of pip and uv, for the packages that a run installs, and for those that a lock resolves.

`pip_settings` reads what configures pip for the author (variables and configuration files), omits options that install
somewhere else, and translates the rest for uv. So `smspec run` and `smspec lock` use the index that the author uses.

The package starts no installer and contacts no index. It does not know which packages a job needs: `smspec.local`
installs them, and `smspec.lock` resolves them. It imports nothing else of the compiler.
"""
