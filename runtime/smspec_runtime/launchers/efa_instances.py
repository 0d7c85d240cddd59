"""Instance types with accelerators and an Elastic Fabric Adapter (EC2 user guide)."""

_RDMA = (
    "g6.8 g6.12 g6.16 g6.24 g6.48 g6e.8 g6e.12 g6e.16 g6e.24 g6e.48 g7.8 g7.12 g7.24 g7.48 g7e.8 g7e.12 g7e.24 g7e.48 "
    "p4d.24 p4de.24 p5.4 p5.48 p5e.48 p5en.48 p6-b200.48 p6-b300.48 p6e-gb200.36 trn1.32 trn1n.32 trn2.48"
)
_OTHERS = "g4dn.8 g4dn.12 g4dn.16 g5.8 g5.12 g5.16 g5.24 g5.48 p3dn.24"

# With remote memory access; on others the setting makes libfabric abort.
RDMA = tuple(f"ml.{size}xlarge" for size in _RDMA.split())
EFA = (*RDMA, *(f"ml.{size}xlarge" for size in _OTHERS.split()))
