"""Q-learning on a line with a replay buffer, a target network, and a falling rate of exploration."""

import json
import os
import random
import time
from collections import deque

PATH = "/opt/ml/checkpoints/agent.json"
PLACES, EPISODES = 7, 60

rng = random.Random(4)
q = [[0.0, 0.0] for _ in range(PLACES)]
target = [row[:] for row in q]
memory, epsilon, episode, updates = deque(maxlen=80), 1.0, 0, 0
if os.path.exists(PATH):
    with open(PATH) as file:
        saved = json.load(file)
    q, target, epsilon = saved["q"], saved["target"], saved["epsilon"]
    episode, updates = saved["episode"], saved["updates"]
    memory.extend(saved["memory"])
    rng.setstate((saved["random"][0], tuple(saved["random"][1]), saved["random"][2]))
while episode < EPISODES:
    place, reward = PLACES // 2, 0.0
    for _ in range(12):
        action = rng.randrange(2) if rng.random() < epsilon else int(q[place][1] > q[place][0])
        then = min(PLACES - 1, max(0, place + (1 if action else -1)))
        reward = 1.0 if then == PLACES - 1 else -0.05
        memory.append([place, action, reward, then])
        for before, chosen, gain, after in rng.sample(list(memory), min(4, len(memory))):
            q[before][chosen] += 0.2 * (gain + 0.9 * max(target[after]) - q[before][chosen])
            updates += 1
            if updates % 50 == 0:
                target = [row[:] for row in q]
        place = then
    epsilon *= 0.95
    episode += 1
    time.sleep(0.015)
    if episode % 5 == 0:
        state = {"q": q, "target": target, "epsilon": epsilon, "episode": episode, "updates": updates}
        with open(PATH + ".tmp", "w") as file:
            json.dump({**state, "memory": list(memory), "random": rng.getstate()}, file)
        os.replace(PATH + ".tmp", PATH)
        print(f"episode {episode} loss={-max(map(max, q)):.7f}", flush=True)
with open(os.path.join(os.environ["SM_MODEL_DIR"], "q.json"), "w") as file:
    json.dump(q, file)
