"""JSON as RFC 8259 defines it, read into a tree that knows its places. Nothing here knows what a request is."""
