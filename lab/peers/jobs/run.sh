#!/bin/sh
# Runs all jobs with all libraries, one after the other on one core, and prints means.
#
#   ./run.sh -schema adult.json -train adult.data.gz     on a file; without arguments on generated rows
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ -x "$here/.venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$here/.venv"
[ -x "$here/.venv-diffprivlib/bin/python" ] || "${PYTHON:-python3}" -m venv "$here/.venv-diffprivlib"
"$here/.venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$here/../requirements.txt"
"$here/.venv-diffprivlib/bin/python" -m pip install --quiet --disable-pip-version-check -r "$here/requirements.txt"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$here" && CGO_ENABLED=0 go build -o "$work/jobs" .)
norm=$("$work/jobs" "$@" -data "$work/data" -write | sed 's/.* //')
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 GOMAXPROCS=1
for seed in 0 1 2 3 4; do
  for epsilon in 0.3 1 3; do
    "$work/jobs" "$@" -job logistic -epsilon $epsilon -seed $seed
    "$work/jobs" -job clusters -epsilon $epsilon -seed $seed
    for run in ":logistic opacus" "-diffprivlib:logistic diffprivlib" "-diffprivlib:clusters diffprivlib"; do
      "$here/.venv${run%%:*}/bin/python" "$here/jobs.py" --data "$work/data" --norm "$norm" \
        --epsilon $epsilon --seed $seed ${run#*:}
    done
  done
  "$here/.venv-diffprivlib/bin/python" "$here/jobs.py" --data "$work/data" --seed $seed logistic sklearn
  "$here/.venv-diffprivlib/bin/python" "$here/jobs.py" --data "$work/data" --seed $seed clusters sklearn
done > "$here/results.jsonl"
exec python3 "$here/summary.py" "$here/results.jsonl"
