"""Follow a Python program from its syntax tree, without running it, and without knowing what is looked for in it.

An `Interpreter` goes through the statements of a module in order. Every expression has a `Value`: a constant, a list, a
class or function of the program, something of another module by its name, or unknown; a value that other code gets
escapes, and is unknown from then on. A `Frame` has the names of one place, and `effects` says what a call of another
module may change. What runs in every run of the program is certain; nothing else may be reported.

What calls of libraries mean, and what is recorded of them, is the matter of a `Recorder`, which comes from outside. So
this package imports `source` and `diagnostics` only.
"""
