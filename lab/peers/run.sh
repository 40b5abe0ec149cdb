#!/bin/sh
# Installs PyTorch and Opacus from PyPI into .venv, builds the Go program and times all candidates.
# Options are passed to compare.py: ./run.sh --restarts 1 --batches 600 --cores 1
set -eu
cd "$(dirname "$0")"
command -v taskset >/dev/null || { echo "taskset (util-linux) is needed to pin candidates to cores" >&2; exit 1; }
[ -x .venv/bin/python ] || "${PYTHON:-python3}" -m venv .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
CGO_ENABLED=0 go build -o .venv/privgen-steps .
exec .venv/bin/python compare.py .venv/privgen-steps "$@"
