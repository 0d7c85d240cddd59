"""What other machines send: HTTP and JSON, read within limits of time, size, and shape.

Everything that opens a connection goes through here, boto3's requests too. Imported only by commands that contact
another machine: the compile path never loads this package.
"""
