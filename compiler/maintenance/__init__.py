"""Where the tables of facts come from: installed packages, checkouts of public repositories, and PyPI.

For developers of smspec (``make facts``), not for its users. Everything is read as data, and nothing of it is run.
"""
