#!/usr/bin/env bash
# The main job, from job.yaml to a model, on this machine: `make demo` or `hatch run demo`.
set -euo pipefail
cd "$(dirname "$0")/../specs/pipe-byo"

say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; }
[ -t 1 ] || say() { printf '\n$ %s\n' "$*"; }

say python3 make_data.py
python3 make_data.py

say smspec validate
smspec validate

say smspec build
smspec build
ls -F build/pipe-byo

say cat build/pipe-byo/Dockerfile
cat build/pipe-byo/Dockerfile

say cat build/pipe-byo/create-training-job.json
cat build/pipe-byo/create-training-job.json

say smspec run
smspec run

say tar tzf run/pipe-byo/model.tar.gz
tar tzf run/pipe-byo/model.tar.gz

printf '\nGenerated: %s\nRun:       %s\n' "$PWD/build/pipe-byo" "$PWD/run/pipe-byo"
