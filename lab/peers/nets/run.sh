#!/bin/sh
# Installs PyTorch and Opacus, writes the data, builds the Go program and compares all candidates.
#
#   ./run.sh MNIST FASHION-MNIST [options of compare.py]
set -eu
mnist=$(realpath "$1") fashion=$(realpath "$2")
shift 2
cd "$(dirname "$0")"
[ -x ../.venv/bin/python ] || "${PYTHON:-python3}" -m venv ../.venv
../.venv/bin/python -m pip install --quiet --disable-pip-version-check -r ../requirements.txt faker==40.63.0
[ -d .data ] || ../.venv/bin/python data.py "$mnist" "$fashion" .data
CGO_ENABLED=0 go build -o ../.venv/privgen-nets .
exec ../.venv/bin/python compare.py ../.venv/privgen-nets .data "$@"
