#!/bin/bash
set -e
if [ "$SM_CURRENT_HOST" = algo-1 ]; then
  python3 train.py
else
  sleep infinity
fi
