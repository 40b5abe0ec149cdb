"""Trains a private classifier on MNIST with privgen and with jax_privacy, with independent and with
banded noise, and prints the accuracies on test images.

    python bands.py FOLDER PRIVGEN

FOLDER holds MNIST's four files and PRIVGEN is the program lab/studies/bands. For each ε, number of
bands and library, learning rates are compared on the last tenth of the training images in one run
each. Then the best is run on all training images and tested, with three seeds.
"""

import argparse
import gzip
import os
import re
import subprocess
import time

import dp_accounting
import jax
import jax.numpy as jnp
import numpy as np
import optax
from dp_accounting import pld
from jax_privacy import batch_selection, clipping, noise_addition
from jax_privacy.experimental import accounting
from jax_privacy.matrix_factorization import toeplitz

DELTA, CLIP, MOMENTUM = 1e-5, 1.0, 0.9
NAMES = ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz",
         "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz")


def read(folder, name, skip):
    with gzip.open(os.path.join(folder, name)) as f:
        return np.frombuffer(f.read(), np.uint8, offset=skip)


def images(folder, kind):
    x = read(folder, NAMES[2 * kind], 16).reshape(-1, 784).astype(np.float32) / 255
    return x, read(folder, NAMES[2 * kind + 1], 8).astype(np.int32)


def logits(w, v):
    return jax.nn.relu(v @ w[0] + w[1]) @ w[2] + w[3]


def loss(w, v, label):
    return optax.softmax_cross_entropy_with_integer_labels(logits(w, v), label).mean()


def start(hidden, seed):
    k = jax.random.split(jax.random.key(seed), 2)
    return [jax.random.normal(k[0], (784, hidden)) * np.sqrt(2 / 784), jnp.zeros(hidden),
            jax.random.normal(k[1], (hidden, 10)) * np.sqrt(1 / hidden), jnp.zeros(10)]


def calibrated(a, epsilon, bands, probability):
    def event(z):
        return accounting.amplified_bandmf_event(
            z, a.steps, num_bands=bands, sampling_prob=probability)
    return dp_accounting.calibrate_dp_mechanism(
        lambda: pld.PLDAccountant(), event, epsilon, DELTA, tol=1e-3)


def learn(a, train, test, bands, z, rate, seed):
    """Returns the accuracy of a network that jax_privacy trains."""
    n = len(train[0])
    c = toeplitz.optimize_banded_toeplitz(a.steps, bands) if bands > 1 else jnp.ones(1)
    c /= jnp.linalg.norm(c)
    w = start(a.hidden, seed)
    noise = noise_addition.matrix_factorization_privatizer(
        toeplitz.inverse_as_streaming_matrix(c), stddev=z * CLIP,
        prng_key=jax.random.key(1000 + seed))
    optimizer = optax.sgd(rate, momentum=MOMENTUM)
    gradients = clipping.clipped_grad(
        loss, l2_clip_norm=CLIP, batch_argnums=(1, 2), microbatch_size=None)
    size = int(a.batch + 5 * a.batch**.5)  # a batch exceeds it once in a thousand runs
    sampler = batch_selection.CyclicPoissonSampling(
        a.batch * bands / n, a.steps, truncated_batch_size=size, cycle_length=bands,
        partition_type=batch_selection.PartitionType.INDEPENDENT)
    noise_state, state = noise.init(w), optimizer.init(w)

    @jax.jit
    def step(w, noise_state, state, v, label, padding):
        g = gradients(w, v, label, is_padding_example=padding)
        g, noise_state = noise.update(g, noise_state)
        u, state = optimizer.update(jax.tree.map(lambda g: g / a.batch, g), state)
        return optax.apply_updates(w, u), noise_state, state

    for rows in sampler.batch_iterator(n, seed):
        padding = np.arange(size) >= len(rows)
        rows = np.concatenate([rows, np.zeros(size - len(rows), rows.dtype)]).astype(np.int64)
        w, noise_state, state = step(
            w, noise_state, state, train[0][rows], train[1][rows], padding)
    return float((logits(w, test[0]).argmax(1) == test[1]).mean())


def jax_privacy(a, epsilon, bands, final):
    """Returns the noise multiplier and a function from a rate and seeds to accuracies."""
    x, y = images(a.folder, 0)
    held = 0 if final else len(x) // 10
    n = len(x) - held
    train, test = (x[:n], y[:n]), images(a.folder, 1) if final else (x[n:], y[n:])
    z = calibrated(a, epsilon, bands, a.batch * bands / n)
    return z, lambda rate, runs: [
        learn(a, train, test, bands, z, rate, seed) for seed in range(runs)]


def privgen(a, epsilon, bands, final):
    n = 60000 if final else 54000
    command = [a.program, "-n", n, "-epsilon", epsilon, "-delta", DELTA, "-bands", bands,
               "-steps", a.steps, "-batch", a.batch, "-hidden", a.hidden,
               "-clip", CLIP, "-momentum", MOMENTUM]
    for flag, name in zip(("images", "labels", "test-images", "test-labels"), NAMES):
        if final or not flag.startswith("test"):
            command += ["-" + flag, os.path.join(a.folder, name)]
    noise = []

    def accuracies(rate, runs):
        out = subprocess.run([str(v) for v in command + ["-runs", runs, "-learning-rates", rate]],
                             check=True, capture_output=True, text=True).stdout
        z, each = re.search(r"noise multiplier ([\d.]+): .* runs \[([\d. ]+)\]", out).groups()
        noise.append(float(z))
        return [float(v) for v in each.split()]
    return noise, accuracies


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder")
    p.add_argument("program")
    p.add_argument("--epsilons", default="2,8")
    p.add_argument("--bands", default="1,16")
    p.add_argument("--rates", default="0.125,0.25,0.5,1")
    p.add_argument("--steps", type=int, default=1000)
    p.add_argument("--batch", type=int, default=256)
    p.add_argument("--hidden", type=int, default=64)
    p.add_argument("--runs", type=int, default=3)
    a = p.parse_args()
    rates = [float(r) for r in a.rates.split(",")]
    print("| library | ε | bands | rate | noise multiplier | accuracy |\n|---|---|---|---|---|---|")
    for epsilon in map(float, a.epsilons.split(",")):
        for bands in map(int, a.bands.split(",")):
            for library in privgen, jax_privacy:
                begun = time.process_time()
                _, accuracies = library(a, epsilon, bands, False)
                held = {rate: accuracies(rate, 1)[0] for rate in rates}
                best = max(held, key=held.get)
                z, accuracies = library(a, epsilon, bands, True)
                tested = accuracies(best, a.runs)
                z = z[-1] if library is privgen else z
                print(f"| {library.__name__} | {epsilon:g} | {bands} | {best:g} | {z:.3f} "
                      f"| {np.mean(tested):.4f} ±{np.std(tested, ddof=1):.4f} |"
                      f" tested {tested}, held out {held},"
                      f" {time.process_time() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main()
