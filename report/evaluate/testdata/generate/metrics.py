"""Writes ../metrics.json, column distances and MMD² of small arrays, and classify/testdata/curves.json, areas under curves, computed by scikit-learn, SciPy and NumPy.

    python metrics.py
"""
import json
import pathlib

import numpy as np
from scipy.stats import ks_2samp
from sklearn.metrics import average_precision_score, roc_auc_score


def curves(rng):
    out = []
    for n, levels in ((20, 4), (200, 30), (500, 10**6), (50, 1)):
        s = rng.integers(levels, size=n) / levels
        y = (rng.uniform(size=n) < .2 + .5 * s).astype(int)
        y[:2] = 0, 1
        out.append({"scores": s.tolist(), "positive": y.astype(bool).tolist(), "roc": roc_auc_score(y, s), "prc": average_precision_score(y, s)})
    return out


def kernel(a, b, widths):
    d = ((a[:, None, :] - b[None, :, :]) ** 2).sum(-1)
    return np.mean([np.exp(-d / (2 * s * s)) for s in widths], axis=0)


def mmd(x, y, widths):
    n, m = len(x), len(y)
    kx, ky, kxy = kernel(x, x, widths), kernel(y, y, widths), kernel(x, y, widths)
    return (kx.sum() - np.trace(kx)) / n / (n - 1) + (ky.sum() - np.trace(ky)) / m / (m - 1) - 2 * kxy.mean()


def distances(rng):
    real, fake, held = rng.uniform(size=(60, 3)) ** 2, rng.uniform(size=(60, 3)), rng.uniform(size=(60, 3)) ** 2
    real, fake, held = (np.round(a, 3) for a in (real, fake, held))
    widths = [.2, .5]
    bins = lambda a: np.minimum((a * 5).astype(int), 4)
    joint = lambda a: np.bincount(bins(a) @ [25, 5, 1], minlength=125) / len(a)
    trend = lambda a, b: np.mean([1 - abs(np.corrcoef(a.T)[i, j] - np.corrcoef(b.T)[i, j]) / 2 for i, j in ((0, 1), (0, 2), (1, 2))])
    shape = lambda a, b: float(np.mean([1 - ks_2samp(a[:, j], b[:, j]).statistic for j in range(3)]))
    return {
        "real": real.tolist(), "synthetic": fake.tolist(), "held": held.tolist(), "widths": widths, "bins": 5,
        "mmd": [mmd(fake, real, widths), mmd(held, real, widths)],
        "shapes": [shape(fake, real), shape(held, real)],
        "trends": [trend(fake, real), trend(held, real)],
        "variation": [float(abs(joint(a) - joint(real)).sum() / 2) for a in (fake, held)],
    }


rng = np.random.default_rng(5)
module = pathlib.Path(__file__).parents[4]
for path, key, values in (
    (module / "report/evaluate/classify/testdata/curves.json", "curves", curves(rng)),
    (module / "report/evaluate/testdata/metrics.json", "distances", distances(rng)),
):
    path.write_text(json.dumps({key: values}, separators=(",", ":")) + "\n")
