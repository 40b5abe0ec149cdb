"""Noise in the parameters after restarts of a run in bands, relative to independent noise.

A restart begins a new band. Prints the table of docs/decisions.md, section 13:

    python restarts.py
"""

import numpy as np
from scipy.signal import lfilter

STEPS = 1000


def powers(bands, exponent):
    """Coefficients of (1-x)^-exponent, rounded to the grid of 1/4096."""
    c = [1.0]
    for j in range(1, bands):
        c.append(c[-1] * (j - 1 + exponent) / j)
    return np.round(np.array(c) * 4096) / 4096


def noise(c, momentum, restarts):
    """Root mean square over all steps of the noise in the parameters, times the norm of c."""
    inverse = lfilter([1.0], c, np.eye(1, STEPS)[0])
    starts = [STEPS * k // (restarts + 1) for k in range(restarts + 2)]
    variance = np.zeros(STEPS)
    for first, end in zip(starts, starts[1:]):
        for s in range(first, end):
            x = np.zeros(STEPS)
            x[s:end] = inverse[: end - s]
            variance += np.cumsum(lfilter([1 - momentum], [1, -momentum], x)) ** 2
    return np.sqrt(variance.mean() * (c**2).sum())


print("bands momentum exponent, then restarts: 0, 1, 3, 9")
for momentum in 0, 0.9:
    independent = noise(np.array([1.0]), momentum, 0)
    for bands in 4, 32:
        tried = [k / 20 for k in range(9, 21)]
        best = min(tried, key=lambda a: noise(powers(bands, a), momentum, 0))
        row = [noise(powers(bands, best), momentum, k) / independent for k in (0, 1, 3, 9)]
        print(bands, momentum, best, " ".join(f"{r:.3f}" for r in row), flush=True)
