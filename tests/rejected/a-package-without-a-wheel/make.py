"""Write the package index of the job."""

from pathlib import Path

from support.servers.package_index import Packages

packages = Packages()
packages.add("ctr-kernels", "1.0", tag="cp311-cp311-manylinux_2_28_x86_64")
packages.add("ctr-kernels", "1.1", tag="cp312-cp312-manylinux_2_28_x86_64")
packages.add("ctr-kernels", "1.2", tag="cp312-cp312-manylinux_2_39_x86_64")
index = packages.write(Path("index"))
spec = Path("job.yaml")
spec.write_text(spec.read_text().replace("INDEX_HERE", index))
