"""An editor for tests: the client of pygls, with the language server as a process of its own."""
