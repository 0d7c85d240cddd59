"""Requests to other machines: HTTP and JSON, within limits of time, size, and shape.

Everything that opens a connection uses this package, including boto3. Imported only by commands that contact another
machine: compiling never loads this package.

`exchanged` sends an `HttpRequest` and returns an `HttpResponse`, within one `Deadline` for all of it, however slowly it
arrives. Size, length, redirects, certificates, and the form of JSON are checked here, so no caller needs to. What
breaks one of the limits is a `WireFault` with one sentence. An `AwsSession` makes boto3 send its requests this way,
too.

The package must not know what it carries: registries, jobs, and objects are the business of its callers.
"""
