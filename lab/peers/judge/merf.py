"""Draws synthetic rows by DP-MERF with the recipe of its authors, written anew in PyTorch.

    python merf.py --schema adult.json --train train.csv --out synthetic.csv

README.md says what is as in the paper's code and what is not. Needs the packages of requirements.txt.
"""
import argparse
import csv
import sys
import time

import numpy as np
import torch
from scipy.optimize import brentq
from scipy.stats import norm
from torch import nn

import tables


def gaussian(epsilon, delta):
    """Returns the noise multiplier of one Gaussian release (Balle and Wang 2018)."""
    def excess(s):
        return norm.cdf(0.5 / s - epsilon * s) - np.exp(epsilon) * norm.cdf(-0.5 / s - epsilon * s) - delta
    return brentq(excess, 1e-3, 1e3)


class Rows:
    """Rows as arrays: numbers scaled by the schema's bounds to [0, 1], and levels one-hot."""

    def __init__(self, columns, cells, names):
        self.columns = columns
        self.numbers = [c for c in columns[:-1] if not c["levels"]]
        self.choices = [c for c in columns[:-1] if c["levels"]]
        self.label = columns[-1]
        self.table = tables.Table(columns)
        of = {c["name"]: cells[names.index(c["name"])] for c in columns}
        self.x = np.stack([self.scaled(c, of[c["name"]]) for c in self.numbers], 1).astype(np.float32)
        self.sizes = [len(c["levels"]) + bool(c["missing"]) for c in self.choices]
        codes = [self.table.codes(c, of[c["name"]]) for c in self.choices]
        self.z = np.concatenate([np.eye(n, dtype=np.float32)[k] for n, k in zip(self.sizes, codes)], 1)
        self.y = np.asarray(self.table.codes(self.label, of[self.label["name"]]))

    def forward(self, c, v):
        return np.log1p((v - c["lo"]) / tables.log_unit(c)) if c.get("logarithmic") else v

    def scaled(self, c, cells):
        v = np.array([c["lo"] if s in tables.MISSING else float(s) for s in cells])
        lo, hi = self.forward(c, np.array([c["lo"], c["hi"]], float))
        return (self.forward(c, np.clip(v, c["lo"], c["hi"])) - lo) / (hi - lo)

    def values(self, c, v):
        lo, hi = self.forward(c, np.array([c["lo"], c["hi"]], float))
        v = np.clip(v, 0, 1) * (hi - lo) + lo
        grown = tables.log_unit(c) * np.expm1(v) + c["lo"] if c.get("logarithmic") else v
        v = np.clip(grown, c["lo"], c["hi"])
        return np.rint(v).astype(int) if c["type"] == "integer" else v


class Generator(nn.Module):
    def __init__(self, numbers, sizes):
        super().__init__()
        d = numbers + sum(sizes)
        self.numbers, self.sizes = numbers, sizes
        self.net = nn.Sequential(nn.Linear(11, 4 * d), nn.BatchNorm1d(4 * d), nn.ReLU(),
                                 nn.Linear(4 * d, 2 * d), nn.BatchNorm1d(2 * d), nn.ReLU(),
                                 nn.Linear(2 * d, d))

    def forward(self, y):
        code = torch.cat([torch.randn(len(y), 10), y[:, None].float()], 1)
        out = self.net(code)
        parts = out[:, self.numbers:].split(self.sizes, 1)
        return out[:, :self.numbers].relu(), torch.cat([p.softmax(1) for p in parts], 1)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--schema", required=True)
    p.add_argument("--train", required=True, help="real rows, with a header")
    p.add_argument("--out", required=True)
    p.add_argument("--system", default="merf", choices=("merf",))
    p.add_argument("--epsilon", type=float, default=1)
    p.add_argument("--delta", type=float, default=1e-5)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--features", type=int, default=1000, help="the paper's value for Adult")
    p.add_argument("--steps", type=int, default=8000, help="the paper's value for Adult")
    p.add_argument("--batch", type=float, default=0.1, help="fraction of the rows; the paper's value")
    a = p.parse_args()

    torch.manual_seed(a.seed)
    rng = np.random.default_rng(a.seed)
    columns = tables.read_schema(a.schema)
    lines = tables.rows_of(a.train)
    rows = Rows(columns, list(zip(*lines[1:])), lines[0])

    start = time.process_time()
    n, classes = len(rows.y), len(rows.label["levels"])
    some = rows.x[rng.choice(n, 10, replace=False)]
    scale = np.median(np.sqrt(((some[:, None] - some) ** 2).sum(-1))[np.triu_indices(10, 1)])
    w = torch.from_numpy(rng.standard_normal((rows.x.shape[1], a.features // 2)).astype(np.float32) / scale)

    def features(x, z):
        t = x @ w
        return torch.cat([t.cos(), t.sin(), z], 1) / torch.cat(
            [torch.full((a.features,), (a.features / 2) ** 0.5), torch.full((z.shape[1],), len(rows.sizes) ** 0.5)])

    def embedding(phi, y):
        return nn.functional.one_hot(y, classes).float().T @ phi

    y = torch.from_numpy(rows.y)
    true = embedding(features(torch.from_numpy(rows.x), torch.from_numpy(rows.z)), y) / n
    # A row's features have norm √2. The sizes of classes get 2 % of the squared effect.
    sigma = gaussian(a.epsilon, a.delta)
    released = true + torch.randn(true.shape) * (2 ** 0.5 * sigma / 0.98 ** 0.5 / n)
    sizes = np.bincount(rows.y, minlength=classes) + rng.standard_normal(classes) * sigma / 0.02 ** 0.5
    weights = np.maximum(sizes / n, 1e-3)
    weights = torch.from_numpy(weights / weights.sum()).float()
    target = released / weights[:, None]

    net = Generator(rows.x.shape[1], rows.sizes)
    optimizer = torch.optim.Adam(net.parameters(), 1e-2)
    batch = int(a.batch * n)
    for _ in range(a.steps):
        drawn = torch.multinomial(weights, batch, replacement=True)
        x, z = net(drawn)
        mean = embedding(features(x, z), drawn) / batch / weights[:, None]
        loss = ((mean - target) ** 2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    net.eval()
    drawn = torch.multinomial(weights, n, replacement=True)
    with torch.no_grad():
        x, z = net(drawn)
    at, out = 0, {c["name"]: rows.values(c, x[:, i].numpy()) for i, c in enumerate(rows.numbers)}
    for c, k in zip(rows.choices, rows.sizes):
        out[c["name"]] = [(c["levels"] + ["?"])[i] for i in z[:, at:at + k].argmax(1)]
        at += k
    out[rows.label["name"]] = [rows.label["levels"][i] for i in drawn]
    with open(a.out, "w", newline="") as f:
        writer = csv.writer(f)
        writer.writerow([c["name"] for c in columns])
        writer.writerows(zip(*(out[c["name"]] for c in columns)))
    print(f"merf: {time.process_time() - start:.1f} s of processor time", file=sys.stderr)


if __name__ == "__main__":
    main()
