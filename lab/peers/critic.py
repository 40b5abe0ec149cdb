"""Times critic steps of WGAN-GP beside the same steps in PyTorch.

    go build -o privgen-steps .
    python critic.py ./privgen-steps [--restarts N] [--rounds N] [--seconds S] [--critics mlp,conv]

First it checks that both sides compute the same losses, norms and clipped sums for the same
parameters and records. Then it times all candidates in turn, on one core; see README.md.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch

import critics
from compare import HERE, KEEP_MEMORY, Candidate, median

BATCH, STEPS = 256, 20
REFERENCE = "privgen, private"


def candidates(program, kind):
    def peer(how):
        return [sys.executable, "-W", "ignore", os.path.join(HERE, "critics.py"), f"{kind}-{how}"], KEEP_MEMORY

    one = {"GOMAXPROCS": "1"}
    found = {
        REFERENCE: ([program, f"{kind}-private"], one),
        "privgen, private, Poisson batches": ([program, f"{kind}-private-poisson"], one),
        "privgen, not private": ([program, f"{kind}-plain"], one),
        "PyTorch, not private": peer("plain"),
        "PyTorch, not private, channels last": peer("channels-last"),
        "PyTorch, private, vmap": peer("vmap"),
        "PyTorch, private, one record after another": peer("loop"),
    }
    if kind == "mlp":
        del found["PyTorch, not private, channels last"]
    return found


def arrays(flat, *shapes):
    """Cuts a vector into arrays."""
    ends = np.cumsum([np.prod(s) for s in shapes])
    if len(flat) != ends[-1]:
        raise SystemExit(f"the program wrote {len(flat)} numbers, not {ends[-1]}: the critics differ")
    return [torch.from_numpy(part.reshape(s)) for part, s in zip(np.split(flat, ends[:-1]), shapes)]


def tensors(critic, flat):
    """The parameters of a critic in PyTorch's order, given those of privgen."""
    list, at, images = [], 0, False
    for p in critic.parameters():
        block = flat[at : at + p.numel()]
        at += p.numel()
        if p.dim() == 4:
            maps, channels, high, wide = p.shape
            block, images = block.view(high, wide, channels, maps).permute(3, 2, 0, 1), True
        elif p.dim() == 2 and images:
            block = block.view(4, 4, -1).permute(2, 0, 1).reshape(1, -1)
        elif p.dim() == 2:
            block = block.view(p.shape[1], p.shape[0]).T
        list.append(block.reshape(p.shape))
    return list


def check(program, kind):
    """Compares privgen's gradients of one batch with those of PyTorch."""
    critic, _ = getattr(critics, kind)()
    size = sum(p.numel() for p in critic.parameters())
    with tempfile.NamedTemporaryFile() as f:
        subprocess.run([program, f"write-{kind}", f.name], check=True)
        flat = np.fromfile(f.name, "<f4")
    rows = (BATCH, 784)
    params, x, fakes, mix, losses, norms, mean = arrays(flat, (size,), rows, rows, BATCH, BATCH, BATCH, (size,))
    with torch.no_grad():
        for p, value in zip(critic.parameters(), tensors(critic, params)):
            p.copy_(value)
    far = {"loss": (critics.batch_losses(critic, x, fakes, mix).detach() - losses).abs().max() / losses.abs().max()}
    for name, of in (("vmap", critics.clipped_by_vmap), ("loop", critics.clipped_by_loop)):
        sums, ours = of(critic)(x, fakes, mix)
        far[f"norm, {name}"] = (ours - norms).abs().max() / norms.max()
        away = torch.cat([(s / BATCH - g).flatten() for s, g in zip(sums, tensors(critic, mean))])
        far[f"clipped mean, {name}"] = away.norm() / mean.norm()
    print(f"{kind}: {size} parameters; norms {norms.min():.2f} to {norms.max():.2f}; differences from privgen: "
          + ", ".join(f"{name} {v:.1e}" for name, v in far.items()), flush=True)
    if max(far.values()) > 1e-3:
        raise SystemExit("the two sides do not compute the same gradients")


def report(kind, samples, losses):
    print(f"\n#### {kind}: milliseconds of processor time for a step of {BATCH} records\n")
    print(f"| | ms | lowest–highest | ÷ {REFERENCE} | loss after {STEPS} steps |\n|---|---|---|---|---|")
    reference = median(samples[REFERENCE], "cpu")
    for name, list in samples.items():
        ms = [1e3 * BATCH / s["cpu"] for s in list]
        print(f"| {name} | {1e3 * BATCH / median(list, 'cpu'):.2f} | {min(ms):.2f}–{max(ms):.2f} |"
              f" {reference / median(list, 'cpu'):.2f} | {losses[name]:.1f} |", flush=True)


def write_lines(path, kind, samples):
    """Appends lines of the form that go test -bench prints, for benchmarks/history."""
    with open(path, "a") as f:
        print("pkg: lab/peers", file=f)
        for name, list in samples.items():
            name = name.replace(", ", "/").replace(" ", "-")
            for s in list:
                print(f"BenchmarkCritic/{kind}/{name} 1 {1e3 * BATCH / s['cpu']:.3f} ms", file=f)


def time_all(program, kind, options):
    samples, losses = {}, {}
    for again in range(options.restarts):
        running = {}
        for name, (argv, environment) in candidates(program, kind).items():
            running[name] = Candidate(argv, environment, BATCH, 1)
            loss = running[name].ask(f"check {1 if again else STEPS}")[0]
            losses.setdefault(name, loss)
        names = list(running)
        for turn in range(options.rounds):
            for i in range(len(names)):
                name = names[(i + turn) % len(names)]
                samples.setdefault(name, []).append(running[name].sample(options.seconds))
        for candidate in running.values():
            candidate.close()
    report(kind, samples, losses)
    if options.lines:
        write_lines(options.lines, kind, samples)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--restarts", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--critics", default="mlp,conv")
    parser.add_argument("--lines", help="file to which a line for every sample is appended")
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"{time.strftime('%Y-%m-%d %H:%M')} UTC, load {os.getloadavg()[0]:.1f}, PyTorch {torch.__version__}")
    for kind in options.critics.split(","):
        check(options.program, kind)
        time_all(options.program, kind, options)


if __name__ == "__main__":
    main()
