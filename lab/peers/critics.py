"""Critic steps of WGAN-GP in PyTorch, timed on command like the steps of peers.py.

    python critics.py CANDIDATE BATCH

CANDIDATE is mlp- or conv-, followed by plain, vmap, loop or channels-last.
"""

import os
import sys
import time

import torch
from torch import nn
from torch.func import functional_call, grad, vmap

ROWS, SIDE, LATENT, PENALTY = 6000, 28, 32, 10
LEARNING_RATE, CLIP_NORM, NOISE_MULTIPLIER = 1e-3, 1.0, 1.0
SLOPE = 0.2


def mlp():
    critic = nn.Sequential(nn.Linear(784, 256), nn.LeakyReLU(SLOPE), nn.Linear(256, 1))
    layers = []
    for n, m in ((LATENT, 512), (512, 512)):
        layers += [nn.Linear(n, m), nn.BatchNorm1d(m), nn.ReLU()]
    return critic, nn.Sequential(*layers, nn.Linear(512, 784), nn.Sigmoid())


def conv():
    layers = [nn.Unflatten(1, (1, SIDE, SIDE))]
    for n, m in ((1, 16), (16, 32), (32, 64)):
        layers += [nn.Conv2d(n, m, 5, 2, 2), nn.LeakyReLU(SLOPE)]
    critic = nn.Sequential(*layers, nn.Flatten(), nn.Linear(1024, 1))
    generator = nn.Sequential(
        nn.Linear(LATENT, 32 * 7 * 7), nn.Unflatten(1, (32, 7, 7)), nn.BatchNorm2d(32), nn.ReLU(),
        nn.ConvTranspose2d(32, 16, 4, 2, 1), nn.BatchNorm2d(16), nn.ReLU(),
        nn.ConvTranspose2d(16, 1, 4, 2, 1), nn.Sigmoid(), nn.Flatten())
    return critic, generator


def initialise(critic):
    """Gaussian weights as in privgen, and biases of zero."""
    layers = [m for m in critic if hasattr(m, "weight")]
    for layer in layers:
        gain = 1 if layer is layers[-1] else 2 / (1 + SLOPE**2)
        layer.weight.data.normal_(0, (gain / layer.weight[0].numel()) ** 0.5)
        layer.bias.data.zero_()


def batch_losses(critic, x, fakes, mix):
    """The loss of every record of a batch, for derivatives with respect to the parameters."""
    between = (mix[:, None] * x + (1 - mix[:, None]) * fakes).requires_grad_()
    slopes = torch.autograd.grad(critic(between).sum(), between, create_graph=True)[0]
    scores = critic(torch.cat([fakes, x]))[:, 0]
    return scores[: len(x)] - scores[len(x) :] + PENALTY * (slopes.norm(dim=1) - 1).square()


def functional_gradients(critic):
    """Returns a function that maps parameters and a batch to the gradient of every record."""

    def score(params, x):
        return functional_call(critic, params, x[None])[0, 0]

    def loss(params, x, fake, mix):
        slope = grad(score, 1)(params, mix * x + (1 - mix) * fake)
        return score(params, fake) - score(params, x) + PENALTY * (slope.norm() - 1).square()

    return vmap(grad(loss), in_dims=(None, 0, 0, 0))


def clipped_by_vmap(critic):
    """Returns a function that maps a batch to the sum of clipped gradients, and their norms."""
    gradients = functional_gradients(critic)

    def total(*batch):
        each = gradients({k: v.detach() for k, v in critic.named_parameters()}, *batch).values()
        norms = sum(g.flatten(1).square().sum(1) for g in each).sqrt()
        weights = (CLIP_NORM / norms).clamp(max=1)
        return [torch.einsum("i,i...", weights, g) for g in each], norms

    return total


def clipped_by_loop(critic):
    """The same as clipped_by_vmap, one record after another."""
    parameters = list(critic.parameters())

    def total(x, fakes, mix):
        sums, norms = [torch.zeros_like(p) for p in parameters], []
        for i in range(len(x)):
            loss = batch_losses(critic, x[i : i + 1], fakes[i : i + 1], mix[i : i + 1])[0]
            each = torch.autograd.grad(loss, parameters)
            norms.append(sum(g.square().sum() for g in each).sqrt())
            weight = (CLIP_NORM / norms[-1]).clamp(max=1)
            for s, g in zip(sums, each):
                s.addcmul_(g, weight)
        return sums, torch.stack(norms)

    return total


def noisy(critic, total):
    def gradients(*batch):
        sums, _ = total(*batch)
        noise = NOISE_MULTIPLIER * CLIP_NORM
        for p, s in zip(critic.parameters(), sums):
            p.grad = (s + noise * torch.randn_like(s)) / len(batch[0])

    return gradients


def plain(critic):
    def gradients(*batch):
        batch_losses(critic, *batch).mean().backward()

    return gradients


class Candidate:
    def __init__(self, name, batch):
        kind, how = name.split("-", 1)
        self.critic, generator = {"mlp": mlp, "conv": conv}[kind]()
        initialise(self.critic)
        self.generator, self.batch = generator.eval(), batch
        if how == "channels-last":
            self.critic = self.critic.to(memory_format=torch.channels_last)
        self.gradients = {
            "plain": plain, "channels-last": plain,
            "vmap": lambda c: noisy(c, clipped_by_vmap(c)),
            "loop": lambda c: noisy(c, clipped_by_loop(c)),
        }[how](self.critic)
        self.data = (torch.rand(ROWS, SIDE * SIDE) < 0.2).float()
        self.adam = torch.optim.Adam(self.critic.parameters(), LEARNING_RATE, (0.5, 0.999), fused=True)

    def sample(self):
        x = self.data.index_select(0, torch.randint(0, ROWS, (self.batch,)))
        with torch.no_grad():
            fakes = self.generator(torch.randn(self.batch, LATENT))
        return x, fakes, torch.rand(self.batch)

    def step(self):
        batch = self.sample()
        self.adam.zero_grad(set_to_none=True)
        self.gradients(*batch)
        self.adam.step()

    def loss(self):
        return batch_losses(self.critic, *self.sample()).mean().item()


def main(name, batch):
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    torch.manual_seed(1)
    candidate = Candidate(name, batch)
    for line in sys.stdin:
        command, amount = line.split()
        if command == "check":
            for _ in range(int(amount)):
                candidate.step()
            print(f"{candidate.loss():.2f}", flush=True)
            continue
        examples, start = 0, time.perf_counter()
        while (elapsed := time.perf_counter() - start) < float(amount):
            candidate.step()
            examples += batch
        print(examples, elapsed, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
