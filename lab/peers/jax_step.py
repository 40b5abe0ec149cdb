"""Steps of the paper's VAE in JAX, without privacy, timed on command like those of peers.py.

    python jax_step.py BATCH
"""

import sys
import time
from functools import partial

import jax
import jax.numpy as jnp

ROWS, DIM, HIDDEN, LATENT = 6000, 784, 200, 2
LEARNING_RATE, BETA1, BETA2, EPSILON = 1e-3, 0.9, 0.999, 1e-8
INPUTS, GAINS = (DIM, HIDDEN, LATENT, HIDDEN), (2, 0, 2, 1)
OUTPUTS = (HIDDEN, 2 * LATENT, HIDDEN, DIM)


def start(key):
    """Weights and biases of the four layers, with peers.py's scheme of initial weights."""
    keys = jax.random.split(key, 5)
    layers = [
        (jax.random.normal(k, (a, b)) * jnp.sqrt(gain / a), jnp.zeros(b))
        for k, a, b, gain in zip(keys, INPUTS, OUTPUTS, GAINS)
    ]
    layers[2] = layers[2][0], jax.random.normal(keys[4], (HIDDEN,))
    return layers


def mean_loss(layers, x, noise):
    (w1, b1), (w2, b2), (w3, b3), (w4, b4) = layers
    mean, raw = jnp.split(jax.nn.relu(x @ w1 + b1) @ w2 + b2, 2, axis=1)
    log_std = 8 * jnp.tanh(raw / 8)
    logits = jax.nn.relu((mean + jnp.exp(log_std) * noise) @ w3 + b3) @ w4 + b4
    likelihood = jnp.maximum(logits, 0) - logits * x + jnp.log1p(jnp.exp(-jnp.abs(logits)))
    divergence = 0.5 * (mean**2 + jnp.exp(2 * log_std) - 1) - log_std
    return (likelihood.sum() + divergence.sum()) / len(x)


def draw(key, rows, batch):
    """A batch of rows and its noise."""
    a, b = jax.random.split(key)
    return rows[jax.random.randint(a, (batch,), 0, ROWS)], jax.random.normal(b, (batch, LATENT))


@partial(jax.jit, static_argnums=2, donate_argnums=0)
def step(state, rows, batch):
    """Takes one step of Adam. All of it is one compiled program that works in place."""
    layers, first, second, count, key = state
    key, here = jax.random.split(key)
    grads = jax.grad(mean_loss)(layers, *draw(here, rows, batch))
    tree, count = jax.tree_util.tree_map, count + 1
    first = tree(lambda m, g: BETA1 * m + (1 - BETA1) * g, first, grads)
    second = tree(lambda v, g: BETA2 * v + (1 - BETA2) * g * g, second, grads)
    rate = LEARNING_RATE * jnp.sqrt(1 - BETA2**count) / (1 - BETA1**count)
    layers = tree(lambda w, m, v: w - rate * m / (jnp.sqrt(v) + EPSILON), layers, first, second)
    return layers, first, second, count, key


def main():
    batch = int(sys.argv[1])
    key = jax.random.key(0, impl="unsafe_rbg")
    rows = (jax.random.uniform(key, (ROWS, DIM)) < 0.2).astype(jnp.float32)
    zeros = jax.tree_util.tree_map(jnp.zeros_like, start(key))
    state = start(key), zeros, jax.tree_util.tree_map(jnp.copy, zeros), jnp.zeros(()), key
    state = jax.block_until_ready(step(state, rows, batch))
    for line in sys.stdin:
        command, amount = line.split()
        if command == "check":
            for _ in range(int(amount)):
                state = step(state, rows, batch)
            print(float(mean_loss(state[0], *draw(jax.random.key(1), rows, batch))), flush=True)
            continue
        steps, begin = 0, time.perf_counter()
        while time.perf_counter() - begin < float(amount):
            for _ in range(8):
                state = step(state, rows, batch)
            steps += 8
            jax.block_until_ready(state)
        print(steps * batch, time.perf_counter() - begin, flush=True)


if __name__ == "__main__":
    main()
