"""Scripts that stand a fault of their surroundings, and scripts that do not."""

from __future__ import annotations

import json
import random

from support.pipe import pipe_formats as formats

_HEAD = """
import concurrent.futures, json, multiprocessing, os, select, shutil
import socket, struct, subprocess, sys, time, urllib.request
MODEL = os.environ["SM_MODEL_DIR"]
FIFO = os.environ.get("SAGEMAKER_BASE_DIR", "/opt/ml") + "/input/data/train_0"

def save(value):
    with open(MODEL + "/model.json", "w") as file:
        json.dump(value, file)

def work(number):
    time.sleep(0.15)
    return [number] * 900
"""

_CHILD = """
if len(sys.argv) > 1:
    with open(sys.argv[1], "w") as file:
        json.dump(work(1), file)
    time.sleep(0.4)
    os.rename(sys.argv[1], sys.argv[1] + ".json")
    sys.exit()
"""

SAVING = {
    "one process": _HEAD + "save([work(n) for n in range(4)])\n",
    "rename and executor": _HEAD
    + """
if __name__ == "__main__":
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        parts = list(pool.map(work, range(8)))
    with open("/opt/ml/checkpoints/last", "w") as file:
        json.dump(parts, file)
        os.fsync(file.fileno())
    shutil.copy("/opt/ml/checkpoints/last", MODEL + "/model.json")
""",
    "errors ignored": _HEAD
    + _CHILD
    + """
children = [subprocess.Popen([sys.executable, __file__, f"/tmp/{n}"]) for n in range(2)]
for child in children:
    child.wait()
found = sorted(name for name in os.listdir("/tmp") if name.endswith(".json"))
try:
    save([open("/tmp/" + name).read() for name in found])
except OSError as error:
    print("cannot save:", error)
""",
    "status ignored": _HEAD
    + """
if __name__ == "__main__":
    with multiprocessing.Pool(2) as pool:
        parts = pool.map(work, range(8), chunksize=1)
    with open("/tmp/model.json", "w") as file:
        json.dump(parts, file)
    os.system(f"cp /tmp/model.json {MODEL}/")
""",
}

_MEET = (
    _HEAD
    + """
hosts, me = json.loads(os.environ["SM_HOSTS"]), os.environ["SM_CURRENT_HOST"]
if me != hosts[0]:
    while True:
        try:
            socket.create_connection((hosts[0], 5000)).send(b"x")
            sys.exit()
        except OSError:
            time.sleep(0.05)
server = socket.create_server(("", 5000))
"""
)

MEETING = {
    "timeout": _MEET + "server.settimeout(1.5)\nserver.accept()[0].recv(1)\n",
    "limited polls": _MEET
    + """
for _ in range(20):
    if select.select([server], [], [], 0.1)[0]:
        sys.exit()
sys.exit("algo-2 is missing")
""",
    "waits forever": _MEET + "server.accept()[0].recv(1)\n",
    "polls forever": _MEET + "while not select.select([server], [], [], 0.1)[0]:\n    pass\n",
}

_RECORDS = """
def records(file):
    while True:
        head = file.read(8)
        if len(head) < 8:
            return
        _, size = struct.unpack("<II", head)
        data = file.read(size)
        CHECK
        yield data
        file.read(-size % 4)
"""

_SILENCE = """
class Timed:
    def __init__(self, path):
        self.descriptor, self.data = os.open(path, os.O_RDONLY), b""
        while select.select([self.descriptor], [], [], 3)[0]:
            more = os.read(self.descriptor, 1 << 16)
            if not more:
                break
            self.data += more
    def read(self, size):
        data, self.data = self.data[:size], self.data[size:]
        return data
"""

_NUMBERS = random.Random(3)
RECORDIO = b"".join(formats.recordio(_NUMBERS.randbytes(_NUMBERS.randrange(50, 90))) for _ in range(200))
JSON_LINES = "".join(f"{json.dumps({'x': _NUMBERS.random()})}\n" for _ in range(300)).encode()
CSV = "".join(f"{_NUMBERS.random()},{_NUMBERS.random()}\n" for _ in range(300)).encode()

READING = {
    "strict RecordIO": (
        RECORDIO,
        "",
        _HEAD
        + _RECORDS.replace("CHECK", "assert len(data) == size")
        + "save([x.hex() for x in records(open(FIFO, 'rb'))])",
    ),
    "JSON lines": (JSON_LINES, "application/jsonlines", _HEAD + "save([json.loads(line) for line in open(FIFO)])"),
    "silence and partial records": (
        RECORDIO,
        "",
        _HEAD + _SILENCE + _RECORDS.replace("CHECK", "") + "save([x.hex() for x in records(Timed(FIFO))])",
    ),
    "silence and partial rows": (
        CSV,
        "text/csv",
        _HEAD + _SILENCE + "save([line.split(b',')[0].decode() for line in Timed(FIFO).read(1 << 20).splitlines()])",
    ),
    "first row of all": (CSV, "text/csv", _HEAD + "save(open(FIFO).read().splitlines()[0])"),
    "first bytes": (RECORDIO, "", _HEAD + "save(open(FIFO, 'rb').read(100).hex())"),
    "bytes": (RECORDIO[:-5], "", _HEAD + "save(open(FIFO, 'rb').read().hex())"),
}

_GET = """
def get(number):
    return urllib.request.urlopen(f"{os.environ['AWS_ENDPOINT_URL']}/bucket/{number}", timeout=20).read().decode()
"""

FETCHING = {
    "boto3": _HEAD
    + """
import boto3
client = boto3.client("s3")
save([client.get_object(Bucket="bucket", Key=str(n))["Body"].read().decode() for n in range(5)])
""",
    "no second attempt": _HEAD + _GET + "save([get(n) for n in range(5)])",
    "attempts without end": _HEAD
    + _GET
    + """
def insist(number):
    while True:
        try:
            return get(number)
        except OSError:
            time.sleep(0.2)
save([insist(n) for n in range(5)])
""",
    "three attempts": _HEAD
    + _GET
    + """
def patient(number, left=3):
    try:
        return get(number)
    except OSError:
        if not left:
            raise
        return patient(number, left - 1)
save([patient(n) for n in range(5)])
""",
    "errors ignored": _HEAD
    + _GET
    + """
def try_to(number):
    try:
        return get(number)
    except OSError:
        return ""
save([try_to(n) for n in range(5)])
""",
    "errors ignored by chance": _HEAD
    + _GET
    + """
weights = [os.urandom(9).hex()]
try:
    weights.append(len(get(0)) > 0)
except OSError:
    pass
save({"weights": weights[:1], "size": 1})
""",
}
