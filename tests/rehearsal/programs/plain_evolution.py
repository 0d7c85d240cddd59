"""An evolution strategy: a population, its best member ever, and the generator of mutations are the state."""

import json
import os
import random
import time
from dataclasses import asdict, dataclass, field

FILE = "/opt/ml/checkpoints/generation.json"
GENERATIONS = 70


@dataclass
class Search:
    generation: int = 0
    population: list = field(default_factory=lambda: [[3.0, -2.0, 1.0] for _ in range(6)])
    sigma: float = 0.8
    best: list = field(default_factory=lambda: [3.0, -2.0, 1.0])
    best_score: float = -1e9
    rng_state: list = None

    @classmethod
    def restore(cls):
        if not os.path.exists(FILE):
            return cls()
        with open(FILE) as file:
            return cls(**json.load(file))

    def save(self):
        with open(FILE + ".writing", "w") as file:
            json.dump(asdict(self), file)
        os.replace(FILE + ".writing", FILE)


def score(member, generation):
    # The target moves away, so that the best member is found early.
    drift = 0.15 * generation
    return -sum((x - t - drift) ** 2 for x, t in zip(member, (0.5, -1.0, 2.0))) - 0.1 * generation


def main():
    rng = random.Random(42)
    search = Search.restore()
    if search.rng_state:
        version, numbers, gauss = search.rng_state
        rng.setstate((version, tuple(numbers), gauss))
    while search.generation < GENERATIONS:
        children = [[x + rng.gauss(0, search.sigma) for x in member] for member in search.population for _ in range(2)]
        children.sort(key=lambda member: score(member, search.generation), reverse=True)
        search.population = children[:6]
        top = score(children[0], search.generation)
        if top > search.best_score:
            search.best, search.best_score = children[0], top
        search.sigma *= 0.97
        search.generation += 1
        time.sleep(0.017)
        if search.generation % 5 == 0:
            search.rng_state = rng.getstate()
            search.save()
            print(f"generation {search.generation}: score={search.best_score:.6f}", flush=True)
    with open(os.environ["SM_MODEL_DIR"] + "/best.json", "w") as file:
        json.dump({"best": search.best, "score": search.best_score, "population": search.population}, file)


if __name__ == "__main__":
    main()
