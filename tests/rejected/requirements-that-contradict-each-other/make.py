"""Write the package index of the job."""

from pathlib import Path

from support.servers.package_index import Packages

packages = Packages()
packages.add("ctr-model", "2.0", "ctr-features>=2")
packages.add("ctr-features", "1.0")
packages.add("ctr-features", "2.0")
index = packages.write(Path("index"))
spec = Path("job.yaml")
spec.write_text(spec.read_text().replace("INDEX_HERE", index))
