"""The result of a job that is over, in SageMaker or of a local run: checked, unpacked, and merged in one directory.

A `StoredResult` lists what a job left, wherever it is stored. `collect` reads its archives as streams, writes them to a
`ResultTree`, joins the files that hosts wrote in parts, and returns a `CollectedResult` with the counts for the report.

Archives come from training scripts, so nothing in one is trusted: names, links, sizes, and checksums are checked, and
`ResultRefused` says in one sentence what was wrong. The package does not know specs or plans; what distinguishes a job
of SageMaker from a local run ends at `StoredResult`. `smspec.cli` gives the finished directory its name.
"""
