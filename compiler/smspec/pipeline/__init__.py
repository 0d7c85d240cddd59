"""From files to a compilation: gather the inputs, then compile them without any I/O."""
