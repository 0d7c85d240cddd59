"""A program whose ranks share a sum, and whose checkpoints have the random generator of each."""

PROGRAM = """\
import json, os, random, time
from mpi4py import MPI

ranks = MPI.COMM_WORLD
mine = random.Random(ranks.rank)
path = "/opt/ml/checkpoints/state.json"
step, weight, generators = 0, 0.0, None
if ranks.rank == 0 and os.path.exists(path):
    with open(path) as file:
        step, weight, generators = json.load(file)
step, weight, generators = ranks.bcast((step, weight, generators))
if generators:
    version, internal, gauss = generators[ranks.rank]
    mine.setstate((version, tuple(internal), gauss))
while step < 40:
    weight += 0.1 * (ranks.allreduce(mine.gauss(1, 0.5)) / ranks.size - weight)
    step += 1
    time.sleep(0.02)
    if step % 4 == 0:
        generators = ranks.gather(mine.getstate())
        if ranks.rank == 0:
            with open(path + ".tmp", "w") as file:
                json.dump([step, weight, generators], file)
            os.replace(path + ".tmp", path)
            print(f"step {step} loss={abs(1 - weight):.9f}", flush=True)
if ranks.rank == 0:
    with open(os.environ["SM_MODEL_DIR"] + "/weight.json", "w") as file:
        json.dump(weight, file)
"""
