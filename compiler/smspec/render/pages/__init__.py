"""Pages for a browser: one file each, readable without a network and without JavaScript.

`repository_page` shows all jobs of a repository as `PageJob`s: their cost, data flow, and findings. A page shows text
of strangers, so templates escape everything, and its policy allows one script, by its hash. The package gets values and
returns text: it must not read specs or write files.
"""
