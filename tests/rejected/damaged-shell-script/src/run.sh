#!/bin/bash
set -e
bash prepare.sh
exec python3 train.py
