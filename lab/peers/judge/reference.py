"""Draws synthetic rows from the reference implementations of AIM, MST and PrivBayes in package dpmm.

    python reference.py --schema adult.json --train train.csv --system aim --out synthetic.csv

README.md explains how columns are divided into cells. Needs Python 3.10 or 3.11: pip install dpmm==0.1.9
"""
import argparse
import csv
import sys
import time

import numpy as np
import pandas as pd

import tables


class Column:
    """Codes of a column: its levels, or cells of equal width between the schema's bounds."""

    def __init__(self, c, bins):
        self.origin = self.unit = None
        if c["type"] == "datetime":
            self.origin, self.unit = pd.Timestamp(c["lo"]), pd.Timedelta(c["precision"])
            c = dict(c, type="integer", lo=0, hi=(pd.Timestamp(c["hi"]) - self.origin) // self.unit)
        self.c, self.levels = c, c["levels"]
        self.whole = c["type"] == "integer"
        if not self.levels:
            self.lo, self.hi = self.forward(c["lo"]), self.forward(c["hi"])
            self.bins = min(bins, c["hi"] - c["lo"] + 1) if self.whole else bins
            self.size = int(self.bins) + bool(c["missing"])
        else:
            self.size = len(self.levels) + bool(c["missing"])

    def forward(self, v):
        v, unit = np.asarray(v, float), tables.log_unit(self.c)
        return np.log1p((v - self.c["lo"]) / unit) if self.c.get("logarithmic") else v

    def backward(self, v):
        unit = tables.log_unit(self.c)
        return unit * np.expm1(v) + self.c["lo"] if self.c.get("logarithmic") else v

    def number(self, text):
        if self.origin is None:
            return float(text)
        return (pd.Timestamp(text) - self.origin) // self.unit

    def text(self, v):
        if self.origin is None:
            return repr(int(v) if self.whole else float(v))
        return (self.origin + int(v) * self.unit).isoformat()[:10 if self.unit >= pd.Timedelta("24h") else None]

    def codes(self, table, cells):
        if self.levels:
            return table.codes(self.c, cells)
        v = np.array([np.nan if s in tables.MISSING else self.number(s) for s in cells])
        absent = np.isnan(v)
        v = self.forward(np.clip(np.where(absent, self.c["lo"], v), self.c["lo"], self.c["hi"]))
        code = np.clip((v - self.lo) / (self.hi - self.lo) * self.bins, 0, self.bins - 1)
        return np.where(absent, self.size - 1, code.astype(int))

    def values(self, codes, rng):
        if self.levels:
            return [(self.levels + ["?"])[k] for k in codes]
        at = (codes + rng.random(len(codes))) / self.bins * (self.hi - self.lo) + self.lo
        v = np.clip(self.backward(at), self.c["lo"], self.c["hi"])
        v = np.floor(v + (0.5 if self.bins < self.c["hi"] - self.c["lo"] + 1 else 0)) \
            if self.whole else v
        v = np.clip(v, self.c["lo"], self.c["hi"])
        absent = codes >= self.bins
        return ["?" if a else self.text(x) for x, a in zip(v, absent)]


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--schema", required=True)
    p.add_argument("--train", required=True, help="real rows, with a header")
    p.add_argument("--out", required=True)
    p.add_argument("--system", choices=("aim", "mst", "privbayes"), default="aim")
    p.add_argument("--epsilon", type=float, default=1)
    p.add_argument("--delta", type=float, default=1e-5)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--bins", type=int, default=32, help="number of cells of a column of numbers")
    p.add_argument("--degree", type=int, default=2, help="number of columns of a table of AIM")
    p.add_argument("--size", type=float, default=80, help="largest size of AIM's model in MB")
    a = p.parse_args()

    columns = tables.read_schema(a.schema)
    table = tables.Table(columns)
    rows = tables.rows_of(a.train)
    names, rows = rows[0], rows[1:]
    cells = list(zip(*rows))
    list_ = [Column(c, a.bins) for c in columns]
    frame = pd.DataFrame({c.c["name"]: c.codes(table, cells[names.index(c.c["name"])])
                          for c in list_})
    domain = {c.c["name"]: c.size for c in list_}

    start = time.process_time()
    random = np.random.RandomState(a.seed)
    if a.system == "aim":
        from dpmm.models.aim import AIMGM
        model = AIMGM(epsilon=a.epsilon, delta=a.delta, degree=a.degree, max_model_size=a.size,
                      domain=domain, random_state=random, n_jobs=1)
    elif a.system == "privbayes":
        from dpmm.models.priv_bayes import PrivBayesGM
        model = PrivBayesGM(epsilon=a.epsilon, delta=a.delta, domain=domain, random_state=random,
                            n_jobs=1)
    else:
        from dpmm.models.mst import MSTGM
        model = MSTGM(epsilon=a.epsilon, delta=a.delta, domain=domain, random_state=random,
                      n_jobs=1)
    model.set_domain(domain)
    model.set_random_state(random)
    model.fit(frame)
    drawn = model.generate(n_records=len(frame))
    rng = np.random.default_rng(a.seed)
    out = [c.values(drawn[c.c["name"]].to_numpy().astype(int), rng) for c in list_]
    with open(a.out, "w", newline="") as f:
        w = csv.writer(f)
        w.writerow(domain)
        w.writerows(zip(*out))
    print(f"{a.system}: {time.process_time() - start:.1f} s of processor time", file=sys.stderr)


if __name__ == "__main__":
    main()
