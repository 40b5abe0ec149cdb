"""Compares banded noise with buffered Toeplitz matrices at equal ε, for δ = 1e-5 and 1,000 steps: the
noise of the sums, as a root mean square, relative to one independent release of one clip norm.

    JAX_ENABLE_X64=1 python buffers.py
"""

import dp_accounting
import numpy as np
from dp_accounting import pld
from jax_privacy.experimental import accounting
from jax_privacy.matrix_factorization import buffered_toeplitz

STEPS, DELTA = 1000, 1e-5


def powers(n):
    """Yields the bands that sgd.Config.Bands chooses from: coefficients of (1−x)^−α."""
    for alpha in np.arange(1, 21) / 20:
        c = np.cumprod([1] + [(j - 1 + alpha) / j for j in range(1, n)])
        yield np.round(c * 4096) / 4096


def error(c, separation=STEPS):
    """Returns the noise for one record in every separation-th step."""
    c = np.append(c, np.zeros(STEPS - len(c)))[:STEPS]
    last = max(np.nonzero(c)[0])
    inverse = np.zeros(STEPS)
    inverse[0] = 1 / c[0]
    for t in range(1, STEPS):
        m = min(t, last)
        inverse[t] = -np.dot(c[1:m + 1], inverse[t - m:t][::-1]) / c[0]
    moved = sum(np.append(np.zeros(i), c[:STEPS - i]) for i in range(0, STEPS, separation))
    variance = np.cumsum(np.cumsum(inverse)**2)
    return np.sqrt(variance.mean() * (moved**2).sum() / ((STEPS + 1) / 2))


def calibrated(epsilon, event):
    return dp_accounting.calibrate_dp_mechanism(
        lambda: pld.PLDAccountant(), event, epsilon, DELTA, tol=1e-3)


def amplified(epsilon, bands, separation):
    return calibrated(epsilon, lambda z: accounting.amplified_bandmf_event(
        z, STEPS, num_bands=bands, sampling_prob=bands / separation))


def main():
    bands = {b: min(map(error, powers(b))) for b in (1, 2, 3, 4, 8, 16, 32, 64, 128)}
    print("one participation: bands", {b: f"{e:.4f}" for b, e in bands.items()})
    for buffers in 1, 2, 3, 4:
        blt = buffered_toeplitz.optimize(n=STEPS, error="mean", min_buffers=buffers,
                                         max_buffers=buffers)
        print(f"one participation: {buffers} buffers {error(blt.toeplitz_coefs(STEPS)):.4f}")
    print("| batch | ε | independent | best band | band, every round | buffers, every round |")
    print("|---|---|---|---|---|---|")
    for separation in 234, 100, 20:
        every = min(error(c, separation) for c in powers(separation))
        buffered = min(
            error(buffered_toeplitz.optimize(
                n=STEPS, min_sep=separation, max_participations=None, error="mean",
                min_buffers=b, max_buffers=b).toeplitz_coefs(STEPS), separation)
            for b in (1, 2, 3))
        for epsilon in 1, 2, 8:
            z = calibrated(epsilon, dp_accounting.GaussianDpEvent)
            sampled = {b: amplified(epsilon, b, separation) * e
                       for b, e in bands.items() if b <= separation}
            best = min(sampled, key=sampled.get)
            print(f"| n/{separation} | {epsilon} | {sampled[1]:.3f} | {sampled[best]:.3f} ({best}) "
                  f"| {z * every:.3f} | {z * buffered:.3f} |", flush=True)


if __name__ == "__main__":
    main()
