"""Times training steps of merf's generator of images beside the same steps in PyTorch.

    go test -c -o merf.test ../../merf
    python generator.py ./merf.test [--rounds N] [--cores 1] [--features 10000] [--batches 100,500]

A step draws codes, generates images of all ten classes, computes random Fourier features and their
mean for every class, and propagates the squared distance to given means back to the generator's
parameters, which Adam moves. Networks, numbers of features and batches are the same on both sides.
Rounds alternate between the programs, on the same cores. Figures are medians of milliseconds.
"""

import argparse
import os
import re
import statistics
import subprocess
import time

import torch
from torch import nn

CLASSES, LATENT, HIDDEN = 10, 10, 200


class Generator(nn.Sequential):
    def __init__(self):
        super().__init__(
            nn.Linear(LATENT + CLASSES, HIDDEN), nn.BatchNorm1d(HIDDEN), nn.ReLU(),
            nn.Linear(HIDDEN, 16 * 7 * 7), nn.Unflatten(1, (16, 7, 7)), nn.BatchNorm2d(16), nn.ReLU(),
            nn.Upsample(scale_factor=2, mode="bilinear"), nn.Conv2d(16, 8, 5, padding=2), nn.BatchNorm2d(8), nn.ReLU(),
            nn.Upsample(scale_factor=2, mode="bilinear"), nn.Conv2d(8, 1, 5, padding=2), nn.Sigmoid(),
        )


class Steps:
    def __init__(self, features, batch, channels_last):
        torch.manual_seed(1)
        self.net, self.batch = Generator(), batch
        if channels_last:
            self.net = self.net.to(memory_format=torch.channels_last)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=0.01, fused=True)
        self.frequencies = torch.randn(784, features // 2)
        self.scale = (2 / features) ** 0.5
        self.means = torch.zeros(CLASSES, features)
        self.labels = torch.eye(CLASSES).repeat_interleave(batch // CLASSES, 0)

    def step(self):
        codes = torch.cat([torch.randn(self.batch, LATENT), self.labels], 1)
        projected = self.net(codes).flatten(1) @ self.frequencies
        features = torch.cat([projected.cos(), projected.sin()], 1) * self.scale
        distance = features.view(CLASSES, -1, features.shape[1]).mean(1) - self.means
        self.optimizer.zero_grad()
        distance.square().sum().backward()
        self.optimizer.step()

    def milliseconds(self, count):
        self.step()
        start, cpu = time.perf_counter(), time.process_time()
        for _ in range(count):
            self.step()
        return 1e3 * (time.perf_counter() - start) / count, 1e3 * (time.process_time() - cpu) / count


def ours(program, features, batch, cores, count):
    out = subprocess.run(
        [program, "-test.run", "^$", "-test.bench", f"ImageStep/features={features}/batch={batch}$",
         "-test.cpu", str(cores), "-test.benchtime", f"{count}x"],
        check=True, capture_output=True, text=True).stdout
    return float(re.search(r"([\d.]+) ns/op", out)[1]) / 1e6, float(re.search(r"([\d.]+) cpu-ms", out)[1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--count", type=int, default=8)
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--features", type=int, default=10000)
    parser.add_argument("--batches", default="100,500")
    options = parser.parse_args()
    os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[-options.cores:]))
    torch.set_num_threads(options.cores)
    print(f"PyTorch {torch.__version__}, {options.cores} core(s), load {os.getloadavg()[0]:.1f}")
    for batch in map(int, options.batches.split(",")):
        peers = {name: Steps(options.features, batch, last)
                 for name, last in (("PyTorch", False), ("PyTorch, channels last", True))}
        samples = {}
        for _ in range(options.rounds):
            for name, steps in peers.items():
                samples.setdefault(name, []).append(steps.milliseconds(options.count))
            samples.setdefault("privgen", []).append(
                ours(options.program, options.features, batch, options.cores, options.count))
        reference = [statistics.median(s[i] for s in samples["privgen"]) for i in (0, 1)]
        for name, s in samples.items():
            wall, cpu = (statistics.median(v[i] for v in s) for i in (0, 1))
            print(f"{options.features} features, batch {batch}, {name}: {wall:.2f} ms, {cpu:.2f} of processor time;"
                  f" {wall / reference[0]:.2f} and {cpu / reference[1]:.2f} times privgen's", flush=True)


if __name__ == "__main__":
    main()
