"""Images that smspec makes without an engine: the layers of the base, and those of the generated files."""
