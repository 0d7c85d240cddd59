"""Q-learning on a line of cells; table and counters are in an SQLite database below the checkpoints."""

import json
import os
import random
import sqlite3
import time

CELLS, EPISODES = 7, 40

database = sqlite3.connect("/opt/ml/checkpoints/learner.db", isolation_level=None)
database.execute("CREATE TABLE IF NOT EXISTS q (cell INTEGER, action INTEGER, value REAL, PRIMARY KEY (cell, action))")
database.execute("CREATE TABLE IF NOT EXISTS progress (id INTEGER PRIMARY KEY CHECK (id = 0), episode INTEGER)")
q = {(cell, action): 0.0 for cell in range(CELLS) for action in (-1, 1)}
q.update({(cell, action): value for cell, action, value in database.execute("SELECT * FROM q")})
row = database.execute("SELECT episode FROM progress").fetchone()
episode = row[0] if row else 0
print(f"starting with episode {episode}")

while episode < EPISODES:
    rng = random.Random(episode)
    cell, moves = 3, 0
    database.execute("BEGIN")
    while 0 < cell < CELLS - 1 and moves < 15:
        greedy = max((-1, 1), key=lambda action: q[cell, action])
        action = rng.choice((-1, 1)) if rng.random() < 0.3 else greedy
        following = cell + action
        reward = 1.0 if following == CELLS - 1 else -0.02
        q[cell, action] += 0.2 * (reward + 0.9 * max(q[following, a] for a in (-1, 1)) - q[cell, action])
        database.execute("INSERT OR REPLACE INTO q VALUES (?, ?, ?)", (cell, action, q[cell, action]))
        cell, moves = following, moves + 1
        time.sleep(0.004)
    episode += 1
    database.execute("INSERT OR REPLACE INTO progress VALUES (0, ?)", (episode,))
    database.execute("COMMIT")
    print(f"episode {episode} moves={moves} reward={reward:.2f}", flush=True)

with open(os.path.join(os.environ["SM_MODEL_DIR"], "policy.json"), "w") as file:
    json.dump([[cell, action, value] for (cell, action), value in q.items()], file)
