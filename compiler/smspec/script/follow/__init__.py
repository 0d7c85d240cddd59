"""Follow a Python program from its syntax tree, without running it, and without knowing what is looked for in it.

An `Interpreter` goes through the statements of a module in order. Every expression has a `Value`: a constant, a list, a
class or function of the program, something of another module by its name, or unknown; a value that other code gets
escapes. A `Frame` has the names of one place, and `facts` says what a call of another module may change. What runs in
every run of the program is certain.

What stands for a value that only a run has is the matter of a `Domain`: one unknown value for a script, of which only
what is certain may be reported; values with identities for a program of the SageMaker SDK, which becomes a spec. What
calls of libraries mean, and what is recorded of them, is the matter of a `Recorder`. Both may come from outside, so
this package imports `source` and `diagnostics` only.
"""
