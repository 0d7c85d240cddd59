"""Requests to other machines: HTTP and JSON, within limits of time, size, and shape.

Everything that opens a connection uses this package, including boto3. Imported only by commands that contact another
machine: compiling never loads this package.
"""
