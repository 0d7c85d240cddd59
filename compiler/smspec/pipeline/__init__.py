"""Compile a spec: gather its inputs from files, then compile them without any I/O."""
