"""Prices random compositions with dp_accounting 0.6.0, as an oracle for this package.

Usage: python oracle.py > oracle.json    (pip install dp-accounting==0.6.0)
Each line holds q, sigma and steps of a Poisson-sampled Gaussian, sigma of one plain Gaussian,
delta, and the pessimistic and the optimistic epsilon over both directions.
"""
import json
import random
from dp_accounting.pld import privacy_loss_distribution as pld

random.seed(7)
for _ in range(10):
    q = 10 ** random.uniform(-3, -0.5)
    sigma = random.uniform(0.7, 5)
    steps = int(10 ** random.uniform(1, 3.5))
    plain = random.uniform(1, 20)
    delta = 10 ** random.uniform(-9, -4)
    eps = []
    for pessimistic, h in ((True, 1e-4), (False, 1e-4)):
        a = pld.from_gaussian_mechanism(sigma, sampling_prob=q, value_discretization_interval=h, pessimistic_estimate=pessimistic,
                                        use_connect_dots=pessimistic).self_compose(steps)
        b = pld.from_gaussian_mechanism(plain, value_discretization_interval=h, pessimistic_estimate=pessimistic, use_connect_dots=pessimistic)
        eps.append(a.compose(b).get_epsilon_for_delta(delta))
    print(json.dumps([q, sigma, steps, plain, delta] + eps))
