"""The decisions about a job: one plan for the image, one for the run, one for the request.

`make_plan` takes a `JobSpec` and the digests of the files it names, and returns a `Plan`. Its `ImagePlan` is the
content of the image, with a tag that is the digest of this content; its `RunPlan` is how the runtime starts the script;
its `RequestPlan` is the request, and for each member the key that it comes from, so that a finding about the request is
shown at the line of the spec. Most keys become members by their row in `smspec.spec.keys`; the rest have functions.

Everything is decided here, so that `smspec.render` only writes it down and a review compares plans, not texts. The
package reads no file. It must not know the output formats, and not whether the job is right: `smspec.rules` and
`smspec.service` check it.
"""
