#!/bin/sh
pip install numpy
python3 train.py
