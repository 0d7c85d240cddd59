"""The language server: what editors show about specs while they are typed. Only `smspec lsp` imports it.

The modules that answer questions about a text (`tolerant_outline`, `cursor_place`, `completions`, and their like) know
nothing of the protocol's library, except its types; `server` connects them.
"""
