"""What editors show about specs while they are typed: the language server, and the JSON Schema for other servers.

Only `smspec lsp`, `smspec schema`, and `smspec init`, which writes the schema, import it.

The modules that answer questions about a text (`tolerant_outline`, `cursor_place`, `completions`, and their like) know
nothing of the protocol's library, except its types; `server` connects them.
"""
