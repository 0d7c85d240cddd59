"""The CreateTrainingJob API: its shapes, its limits, and its rules. This package knows requests, not job specs.

`request_findings` checks a `Request`: first every member against its `Shape` in the pinned `Model`, then the rules that
the model does not express (`request_rules`), then those of an organization (`policy_rules`). A finding has a path in
the request; the caller converts it to a key of a spec, or to a line of a JSON file.

Most requests use few members, so `FAMILIES` of `request_rules` lists the members that activate a module of rules, and
the others are not imported. `facts` has dated tables of what no API model contains. What a rule is based on is its
``evidence``.

The package reads its own tables and nothing else: no file of a user, no network, no clock. boto3 is never loaded.
"""
