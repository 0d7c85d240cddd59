"""What editors show about specs while they are typed: the language server, and the JSON Schema for other servers.

A `CheckedRepository` repeats the steps of `validate` and remembers for each job what it depends on; `Checking` runs it
in a thread and gives up as soon as there is newer text. A `TolerantOutline` reads a text that may not be YAML at the
moment: completion, hover, and definition use nothing else of the text.

Only `smspec lsp`, `smspec schema`, and `smspec init`, which writes the schema, import the package. The modules that
answer questions about a text (`tolerant_outline`, `completions`, `hover`, and their like) know nothing of the
protocol's library, except its types; `server` connects them. The package has no rules: an editor must show what
`validate` prints.
"""
