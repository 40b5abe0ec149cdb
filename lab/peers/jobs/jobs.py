"""Runs the jobs of command jobs with other libraries, on the arrays that it wrote.

    python jobs.py --data work --epsilon 1 --seed 0 logistic diffprivlib

Every run prints one line of JSON. README.md says what differs between the libraries.
"""
import argparse
import json
import time
import warnings

import numpy as np


def load(folder, name):
    a = np.load(f"{folder}/{name}.npz")
    return a["x"], (a["y"] if "y" in a else None)


def logistic_diffprivlib(a):
    from diffprivlib.models import LogisticRegression

    x, y = load(a.data, "train")
    model = LogisticRegression(epsilon=a.epsilon, data_norm=a.norm, random_state=a.seed, max_iter=1000)
    model.fit(x, y)
    x, y = load(a.data, "test")
    return model.score(x, y), 0


def logistic_sklearn(a):
    from sklearn.linear_model import LogisticRegression

    x, y = load(a.data, "train")
    model = LogisticRegression(max_iter=1000).fit(x, y)
    x, y = load(a.data, "test")
    return model.score(x, y), 0


def logistic_opacus(a):
    import torch
    from opacus import PrivacyEngine
    from torch import nn

    torch.manual_seed(a.seed)
    x, y = (torch.from_numpy(v) for v in load(a.data, "train"))
    steps, q = a.steps, a.sampled
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y.long()),
                                         batch_size=int(q * len(x)))
    net = nn.Linear(x.shape[1], int(y.max()) + 1)
    engine = PrivacyEngine(accountant="prv")
    net, optimizer, loader = engine.make_private_with_epsilon(
        module=net, optimizer=torch.optim.SGD(net.parameters(), a.rate, momentum=0.9),
        data_loader=loader, target_epsilon=a.epsilon, target_delta=a.delta,
        epochs=int(np.ceil(steps * q)), max_grad_norm=a.clip, grad_sample_mode=a.mode)
    criterion, taken = nn.CrossEntropyLoss(), 0
    while taken < steps:
        for u, v in loader:
            optimizer.zero_grad()
            criterion(net(u), v).backward()
            optimizer.step()
            taken += 1
            if taken == steps:
                break
    x, y = (torch.from_numpy(v) for v in load(a.data, "test"))
    with torch.no_grad():
        return float((net(x).argmax(1) == y).float().mean()), a.delta


def clusters_diffprivlib(a):
    from diffprivlib.models import KMeans

    x, _ = load(a.data, "points")
    model = KMeans(n_clusters=a.k, epsilon=a.epsilon, bounds=(-1, 1), random_state=a.seed).fit(x)
    return distance(x, model.cluster_centers_), 0


def clusters_sklearn(a):
    from sklearn.cluster import KMeans

    x, _ = load(a.data, "points")
    return distance(x, KMeans(a.k, n_init=1, random_state=a.seed).fit(x).cluster_centers_), 0


def distance(x, centres):
    """Returns the mean squared distance of a point to the nearest centre."""
    return float(min_squares(x, np.asarray(centres, np.float32)).mean())


def min_squares(x, centres):
    return np.min([((x - c) ** 2).sum(1) for c in centres], axis=0)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("job", choices=("logistic", "clusters"))
    p.add_argument("library", choices=("diffprivlib", "opacus", "sklearn"))
    p.add_argument("--data", default="work")
    p.add_argument("--epsilon", type=float, default=1)
    p.add_argument("--delta", type=float, default=1e-5)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--rate", type=float, default=8)
    p.add_argument("--clip", type=float, default=1)
    p.add_argument("--sampled", type=float, default=0.1)
    p.add_argument("--steps", type=int, default=100)
    p.add_argument("--norm", type=float, help="public bound of the norm of a row")
    p.add_argument("--k", type=int, default=10)
    p.add_argument("--mode", default="hooks", choices=("hooks", "functorch"))
    a = p.parse_args()
    warnings.filterwarnings("ignore")
    do = globals()[f"{a.job}_{a.library}"]
    import sklearn.cluster  # imports are not part of a job  # noqa: F401
    if a.library == "opacus":
        import opacus  # noqa: F401
    elif a.library == "diffprivlib":
        import diffprivlib.models  # noqa: F401
    began, used = time.perf_counter(), time.process_time()
    quality, delta = do(a)
    print(json.dumps({"job": a.job, "library": a.library, "epsilon": a.epsilon, "delta": delta,
                      "seed": a.seed, "seconds": time.perf_counter() - began,
                      "processor": time.process_time() - used, "quality": quality}))


if __name__ == "__main__":
    main()
