"""Read a Python script without running it: its arguments, channels, and hyperparameters.

`read_script` follows the statements of a script, and of the modules that it imports, from its syntax tree, and returns
a `Program`: what the script certainly does with its command line, its variables, its files, and AWS. `follow` goes
through the statements and knows no library; `readers` know what calls of libraries mean, and write it in a `Record`.
`grammars` know how libraries parse a command line, `reach` what every run imports, and `aws` what a script asks of AWS.

This package does not know job specs. What the text does not show is omitted: no finding is based on a guess. A value is
known, or it is unknown, and an unknown value never becomes an error. Scripts come from strangers, so steps, sizes, and
depths have limits, and nothing of a script is imported or evaluated by Python.
"""
