"""Answers the questions of main.go: a line with a job, σ and δ gives the peer, the lower and the
upper end of ε (0 for no lower end), and the processor time in seconds, without imports."""

import sys
import time

import dp_accounting as dp
from dp_accounting import pld
from jax_privacy.accounting import accountants, analysis
from random_allocation import PrivacyParams, SchemeConfig
from random_allocation import random_allocation_scheme as allocation
from random_allocation.comparisons.definitions import Direction


def priced(event, delta, relation=dp.NeighboringRelation.ADD_OR_REMOVE_ONE):
    return pld.PLDAccountant(relation).compose(event).get_epsilon(delta)


def poisson(q, steps, sigma):
    return dp.SelfComposedDpEvent(dp.PoissonSampledDpEvent(q, dp.GaussianDpEvent(sigma)), steps)


def jax(steps, sigma, delta, cycle=None, truncated=None):
    """q = .01 of 10,000 records."""
    params = analysis.DpParams(
        noise_multipliers=sigma, batch_size=100, num_samples=10000, delta=delta,
        sampling_method=analysis.SamplingMethod.POISSON, cycle_length=cycle,
        truncated_batch_size=truncated)
    return analysis.DpsgdTrainingAccountant(accountants.PldAccountantConfig()).compute_epsilon(
        steps, params)


def allocated(steps, epochs, sigma, delta):
    params = PrivacyParams(sigma=sigma, num_steps=steps, num_epochs=epochs, delta=delta)
    config = SchemeConfig(allocation_direct_alpha_orders=list(range(2, 61)))
    upper = allocation.allocation_epsilon_combined(params, config, Direction.BOTH)
    lower = 0
    if epochs == 1:
        lower = allocation.allocation_epsilon_lower_bound(params, config, Direction.BOTH)
    return lower, upper


JOBS = {
    "poisson": ("jax_privacy", lambda s, d: jax(1000, s, d)),
    "poisson-long": ("dp_accounting", lambda s, d: priced(poisson(0.001, 100000, s), d)),
    "poisson-tail": ("dp_accounting", lambda s, d: priced(poisson(0.01, 1000, s), d)),
    "replaced": ("dp_accounting", lambda s, d: priced(
        poisson(0.01, 1000, s), d, dp.NeighboringRelation.REPLACE_ONE)),
    "truncated": ("jax_privacy", lambda s, d: jax(1000, s, d, truncated=160)),
    "banded": ("jax_privacy", lambda s, d: jax(2000, s, d, cycle=8)),
    "allocation": ("random_allocation", lambda s, d: allocated(100, 1, s, d)),
    "allocation-1000": ("random_allocation", lambda s, d: allocated(1000, 1, s, d)),
    "allocation-epochs": ("random_allocation", lambda s, d: allocated(1000, 10, s, d)),
}

for line in sys.stdin:
    name, sigma, delta = line.split()
    peer, job = JOBS[name]
    begun = time.process_time()
    answer = job(float(sigma), float(delta))
    spent = time.process_time() - begun
    lower, upper = answer if isinstance(answer, tuple) else (0, answer)
    print(peer, lower, upper, spent, flush=True)
