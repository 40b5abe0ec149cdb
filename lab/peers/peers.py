"""Steps of the paper's VAE in PyTorch and Opacus, timed on command.

    python peers.py CANDIDATE BATCH

Reads commands from standard input, one on each line, and answers each with one line:

    check N   takes N steps and answers with the mean loss per example of a new batch
    run S     takes steps for S seconds and answers "EXAMPLES SECONDS"
"""

import math
import os
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

ROWS, DIM, HIDDEN, LATENT = 6000, 784, 200, 2
LEARNING_RATE, CLIP_NORM, NOISE_MULTIPLIER = 1e-3, 1.0, 1.0


class VAE(nn.Module):
    """784-200-2-200-784 with rectifiers; the output is logits."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(DIM, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 2 * LATENT))
        self.decoder = nn.Sequential(nn.Linear(LATENT, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, DIM))
        with torch.no_grad():
            for stack in (self.encoder, self.decoder):
                for layer, gain in ((stack[0], 2), (stack[2], 1)):
                    layer.weight.normal_(0, math.sqrt(gain / layer.in_features))
                    layer.bias.zero_()
            self.encoder[2].weight.zero_()
            self.decoder[0].bias.normal_()

    def forward(self, x):
        mean, raw = self.encoder(x).chunk(2, dim=1)
        log_std = 8 * torch.tanh(raw / 8)
        z = mean + torch.exp(log_std) * torch.randn_like(mean)
        return self.decoder(z), mean, log_std


def divergence(mean, log_std):
    return (0.5 * (mean.square() + torch.exp(2 * log_std) - 1) - log_std).sum(1)


def example_losses(out, x):
    """Negative evidence lower bound of each example."""
    logits, mean, log_std = out
    return F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(1) + divergence(mean, log_std)


def mean_loss(out, x):
    logits, mean, log_std = out
    return (F.binary_cross_entropy_with_logits(logits, x, reduction="sum") + divergence(mean, log_std).sum()) / len(x)


class GradientOnly(torch.autograd.Function):
    """Binary cross-entropy whose derivative is computed, but not its value."""

    @staticmethod
    def forward(ctx, logits, x):
        ctx.save_for_backward(logits, x)
        return logits.new_zeros(())

    @staticmethod
    def backward(ctx, grad):
        logits, x = ctx.saved_tensors
        return torch.sigmoid(logits).sub_(x).mul_(grad), None


def lean_loss(out, x):
    logits, mean, log_std = out
    return (GradientOnly.apply(logits, x) + divergence(mean, log_std).sum()) / len(x)


class ExampleLosses:
    """example_losses in the form that Opacus requires for a criterion."""

    reduction = "mean"

    def __call__(self, out, x):
        return example_losses(out, x)


def adam(model):
    return torch.optim.Adam(model.parameters(), lr=LEARNING_RATE, fused=True)


def plain(model, loss_of=mean_loss, forward=None):
    optimizer, forward = adam(model), forward or model

    def step(x):
        optimizer.zero_grad(set_to_none=True)
        loss_of(forward(x), x).backward()
        optimizer.step()

    return step


def compiled(model):
    loss_of = torch.compile(lambda x: mean_loss(model(x), x))
    return plain(model, lambda out, x: loss_of(x), lambda x: None)


def opacus_hooks(model, batch):
    from opacus import GradSampleModule
    from opacus.optimizers import DPOptimizer

    wrapped = GradSampleModule(model, loss_reduction="mean")
    optimizer = DPOptimizer(adam(model), noise_multiplier=NOISE_MULTIPLIER, max_grad_norm=CLIP_NORM, expected_batch_size=batch)

    def step(x):
        optimizer.zero_grad(set_to_none=True)
        mean_loss(wrapped(x), x).backward()
        optimizer.step()

    return step


def opacus_ghost(model, batch):
    from opacus.grad_sample import GradSampleModuleFastGradientClipping
    from opacus.optimizers import DPOptimizerFastGradientClipping
    from opacus.utils.fast_gradient_clipping_utils import DPLossFastGradientClipping

    wrapped = GradSampleModuleFastGradientClipping(model, max_grad_norm=CLIP_NORM, use_ghost_clipping=True, loss_reduction="mean")
    optimizer = DPOptimizerFastGradientClipping(
        adam(model), noise_multiplier=NOISE_MULTIPLIER, max_grad_norm=CLIP_NORM, expected_batch_size=batch
    )
    criterion = DPLossFastGradientClipping(wrapped, optimizer, ExampleLosses())

    def step(x):
        optimizer.zero_grad(set_to_none=True)
        criterion(wrapped(x), x).backward()
        optimizer.step()

    return step


CANDIDATES = {
    "pytorch": lambda model, batch: plain(model),
    "pytorch-lean": lambda model, batch: plain(model, lean_loss),
    "pytorch-compile": lambda model, batch: compiled(model),
    "opacus-hooks": opacus_hooks,
    "opacus-ghost": opacus_ghost,
}


def main(name, batch):
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    torch.manual_seed(1)
    data = (torch.rand(ROWS, DIM) < 0.2).float()
    model = VAE()
    step = CANDIDATES[name](model, batch)

    def sample():
        return data.index_select(0, torch.randint(0, ROWS, (batch,)))

    for line in sys.stdin:
        command, amount = line.split()
        if command == "check":
            for _ in range(int(amount)):
                step(sample())
            with torch.no_grad():
                x = sample()
                print(f"{example_losses(model(x), x).mean().item():.2f}", flush=True)
            continue
        examples, start = 0, time.perf_counter()
        while (elapsed := time.perf_counter() - start) < float(amount):
            step(sample())
            examples += batch
        print(examples, elapsed, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
