#!/bin/sh
exec ./train
