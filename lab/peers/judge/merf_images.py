"""Draws labelled synthetic images by DP-MERF with the recipe of its authors, written anew in PyTorch.

    python merf_images.py --train train-images-idx3-ubyte.gz:train-labels-idx1-ubyte.gz --out synthetic.npz --held-out held-out.npz

The last tenth of the images is held out and not used. README.md says what is as in the paper's code
and what is not. Needs the packages of requirements.txt.
"""
import argparse
import time

import numpy as np
import torch
from torch import nn

from judge import read_images
from merf import gaussian

CLASSES, CODE = 10, 5


def generator():
    return nn.Sequential(
        nn.Linear(CODE + CLASSES, 200), nn.BatchNorm1d(200), nn.ReLU(),
        nn.Linear(200, 784), nn.BatchNorm1d(784), nn.Unflatten(1, (16, 7, 7)),
        nn.Upsample(scale_factor=2, mode="bilinear"), nn.Conv2d(16, 8, 5, padding=2), nn.ReLU(),
        nn.Upsample(scale_factor=2, mode="bilinear"), nn.Conv2d(8, 1, 5, padding=2), nn.Sigmoid(), nn.Flatten())


def codes(labels):
    return torch.cat([torch.randn(len(labels), CODE), nn.functional.one_hot(labels, CLASSES).float()], 1)


class Embedding:
    """Sums of random Fourier features by class: the features of a record have norm 1."""

    def __init__(self, features, square):
        self.frequencies = torch.randn(784, features // 2) / square ** 0.5
        self.scale = (2 / features) ** 0.5

    def sums(self, x, y):
        t = x @ self.frequencies
        return nn.functional.one_hot(y, CLASSES).float().T @ torch.cat([t.cos(), t.sin()], 1) * self.scale


def train(x, y, a):
    embedding, n = Embedding(a.features, a.length_scale), len(x)
    target = sum(embedding.sums(*part) for part in zip(x.split(1000), y.split(1000)))
    deviation = a.deviation or gaussian(a.epsilon, a.delta)
    target = (target + deviation * torch.randn_like(target)) / n
    net = generator()
    adam = torch.optim.Adam(net.parameters(), a.rate)
    decay = torch.optim.lr_scheduler.ExponentialLR(adam, a.decay)
    for _ in range(a.epochs):
        for _ in range(n // a.batch):
            labels = torch.randint(CLASSES, (a.batch,))
            loss = (target - embedding.sums(net(codes(labels)), labels) / a.batch).square().sum()
            adam.zero_grad()
            loss.backward()
            adam.step()
        decay.step()
    return net.eval()


def draw(net, count):
    labels = torch.arange(count) % CLASSES
    with torch.no_grad():
        return torch.cat([net(codes(part)) for part in labels.split(1000)]), labels


def arguments():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--train", required=True, help="images and labels, two idx files joined by a colon, or an npz")
    p.add_argument("--out", required=True, help="npz of synthetic images")
    p.add_argument("--held-out", help="npz to which the held-out real images are written")
    p.add_argument("--count", type=int, default=60000, help="number of synthetic images")
    p.add_argument("--epsilon", type=float, default=1)
    p.add_argument("--delta", type=float, default=1e-5)
    p.add_argument("--deviation", type=float, default=0,
                   help="standard deviation of the noise on a sum; by default computed from epsilon; the paper's code has 10")
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--features", type=int, default=10000)
    p.add_argument("--length-scale", type=float, default=105, help="square of the length scale")
    p.add_argument("--epochs", type=int, default=5)
    p.add_argument("--batch", type=int, default=100)
    p.add_argument("--rate", type=float, default=0.01)
    p.add_argument("--decay", type=float, default=0.9, help="factor of the rate after each epoch")
    return p.parse_args()


def main():
    a = arguments()
    torch.manual_seed(a.seed)
    x, y = read_images(a.train)
    cut = len(x) - len(x) // 10
    if a.held_out:
        np.savez_compressed(a.held_out, x=x[cut:], y=y[cut:])
    x, y = torch.from_numpy(x[:cut]), torch.from_numpy(y[:cut])
    start = time.process_time()
    net = train(x, y, a)
    print(f"seed {a.seed}: trained on {cut} images in {time.process_time() - start:.1f} s of processor time", flush=True)
    images, labels = draw(net, a.count)
    np.savez_compressed(a.out, x=images.numpy(), y=labels.numpy())


if __name__ == "__main__":
    main()
