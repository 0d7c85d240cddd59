"""Write the package index of the job."""

from pathlib import Path

from support.servers.package_index import Packages

packages = Packages()
for version in ("1.0", "1.1", "2.0"):
    packages.add("ctr-features", version)
index = packages.write(Path("index"))
spec = Path("job.yaml")
spec.write_text(spec.read_text().replace("INDEX_HERE", index))
