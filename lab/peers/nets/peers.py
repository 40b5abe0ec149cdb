"""The networks of this folder in PyTorch and Opacus, on request.

    python peers.py FOLDER NETWORK pytorch|ghost|hooks|same

same is hooks with initial weights of the size that privgen's have.


Reads commands from standard input, one on each line, and answers each with one line:

    train SEED   trains a network and answers "ACCURACY EPSILON EPSILON-BY-RDP"
    run S        takes steps for S seconds and answers "EXAMPLES SECONDS"
"""

import json
import os
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

DELTA = 1e-5
HERE = os.path.dirname(os.path.abspath(__file__))


class Mnist(nn.Module):
    def __init__(self, private):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 16, 8, 2, padding=3), nn.Conv2d(16, 32, 4, 2)
        self.fc1, self.fc2 = nn.Linear(32 * 4 * 4, 32), nn.Linear(32, 10)

    def forward(self, x):
        h = F.max_pool2d(F.relu(self.conv1(x.view(-1, 1, 28, 28))), 2, 1)
        h = F.max_pool2d(F.relu(self.conv2(h)), 2, 1)
        return self.fc2(F.relu(self.fc1(h.view(-1, 32 * 4 * 4))))


class Names(nn.Module):
    def __init__(self, private):
        super().__init__()
        if private:
            from opacus.layers import DPLSTM as LSTM
        else:
            LSTM = nn.LSTM
        self.embed, self.lstm, self.out = nn.Embedding(27, 64), LSTM(64, 128, batch_first=True), nn.Linear(128, 18)

    def forward(self, x):
        h, _ = self.lstm(self.embed(x.long()))
        return self.out(h[:, -1])


class Text(nn.Module):
    def __init__(self, private):
        super().__init__()
        self.embed, self.fc1, self.fc2 = nn.Embedding(10_000, 16), nn.Linear(16, 16), nn.Linear(16, 5)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(self.embed(x.long()).mean(1))))


class Block(nn.Module):
    """A block of a transformer. Opacus's own attention has no causal mask if the batch comes first."""

    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(32), nn.LayerNorm(32)
        self.q, self.k, self.v, self.mix = (nn.Linear(32, 32) for _ in range(4))
        self.fc1, self.fc2 = nn.Linear(32, 64), nn.Linear(64, 32)

    def forward(self, h):
        n = self.norm1(h)
        heads = (f(n).view(-1, 32, 4, 8).transpose(1, 2) for f in (self.q, self.k, self.v))
        a = F.scaled_dot_product_attention(*heads, is_causal=True)
        h = h + self.mix(a.transpose(1, 2).reshape(-1, 32, 32))
        return h + self.fc2(F.relu(self.fc1(self.norm2(h))))


class Letters(nn.Module):
    def __init__(self, private):
        super().__init__()
        self.embed, self.place = nn.Embedding(27, 32), nn.Embedding(32, 32)
        self.blocks = nn.Sequential(Block(), Block())
        self.norm, self.out = nn.LayerNorm(32), nn.Linear(32, 27)

    def forward(self, x):
        x = x.long()
        h = self.blocks(self.embed(x[:, :32].contiguous()) + self.place(x[:, 32:].contiguous()))
        return self.out(self.norm(h)[:, -1])


class Pictures(nn.Module):
    def __init__(self, private):
        super().__init__()
        maps = [3, 32, 64, 64, 128]
        self.convs = nn.ModuleList(nn.Conv2d(a, b, 3, padding=1) for a, b in zip(maps, maps[1:]))
        self.norms = nn.ModuleList(nn.GroupNorm(8, m) for m in maps[1:])
        self.out = nn.Linear(128, 10)

    def forward(self, x):
        h = x.view(-1, 32, 32, 3).permute(0, 3, 1, 2).contiguous()
        for i, (conv, norm) in enumerate(zip(self.convs, self.norms)):
            h = F.relu(norm(conv(h)))
            if i < 3:
                h = F.avg_pool2d(h, 2, 2)
        return self.out(h.mean((2, 3)))


def weights_as_large(model, rectified):
    """Draws initial weights like privgen: with variance 1/inputs, or 2/inputs before ReLU. Biases are 0."""
    for name, p in model.named_parameters():
        layer = name.split(".")[-2]
        if p.dim() > 1 and "embed" not in name and "place" not in name:
            nn.init.normal_(p, std=((2 if layer in rectified else 1) / p[0].numel()) ** 0.5)
        elif p.dim() == 1 and "norm" not in name:
            nn.init.zeros_(p)


RECTIFIED = {"mnist": ["conv1", "conv2", "fc1"], "names": [], "text": ["fc1"], "letters": ["fc1"], "pictures": []}
NETWORKS = {"mnist": Mnist, "names": Names, "text": Text, "letters": Letters, "pictures": Pictures}


class Example:
    def __init__(self, folder, name, how):
        with open(os.path.join(HERE, "settings.json")) as f:
            self.settings = json.load(f)[name]
        for key, value in self.settings.items():
            setattr(self, key, value)
        self.network, self.how, self.step_of_run = NETWORKS[name], how.replace("same", "hooks"), None
        self.rectified = RECTIFIED[name] if how == "same" else None
        path = os.path.join(folder, name)
        self.x = torch.from_numpy(np.fromfile(path + ".x", "<f4").reshape(-1, self.dim))
        self.y = torch.from_numpy(np.fromfile(path + ".y", "<i4").astype(np.int64))

    def start(self, seed):
        """A new network and a function that takes a step with a batch."""
        torch.manual_seed(seed)
        model = self.network(self.how != "pytorch")
        if self.rectified is not None:
            weights_as_large(model, self.rectified)
        kind = torch.optim.Adam if self.optimizer == "adam" else torch.optim.SGD
        optimizer = kind(model.parameters(), lr=self.rate, **({"fused": True} if self.optimizer == "adam" else {}))
        private = dict(noise_multiplier=self.noise, max_grad_norm=self.clip, expected_batch_size=self.batch)
        forward, criterion = model, nn.CrossEntropyLoss()
        if self.how == "hooks":
            from opacus import GradSampleModule
            from opacus.optimizers import DPOptimizer

            forward = GradSampleModule(model, loss_reduction="mean")
            optimizer = DPOptimizer(optimizer, **private)
        if self.how == "ghost":
            from opacus.grad_sample import GradSampleModuleFastGradientClipping
            from opacus.optimizers import DPOptimizerFastGradientClipping
            from opacus.utils.fast_gradient_clipping_utils import DPLossFastGradientClipping

            forward = GradSampleModuleFastGradientClipping(model, max_grad_norm=self.clip, use_ghost_clipping=True, loss_reduction="mean")
            optimizer = DPOptimizerFastGradientClipping(optimizer, **private)
            criterion = DPLossFastGradientClipping(forward, optimizer, criterion)

        def step(index):
            optimizer.zero_grad(set_to_none=True)
            criterion(forward(self.x.index_select(0, index)), self.y.index_select(0, index)).backward()
            optimizer.step()

        return model, step

    def train_network(self, seed):
        """Trains with Poisson samples, or without privacy with shuffled batches, and tests."""
        model, step = self.start(seed)
        sampled, steps = self.batch / self.train, self.epochs * self.train // self.batch
        order = torch.empty(0, dtype=torch.long)
        for _ in range(steps):
            if self.how == "pytorch":
                if len(order) < self.batch:
                    order = torch.randperm(self.train)
                index, order = order[: self.batch], order[self.batch :]
            else:
                index = (torch.rand(self.train) < sampled).nonzero().squeeze(1)
            step(index)
        if self.how == "pytorch":
            return self.accuracy(model), float("inf"), float("inf")
        from opacus.accountants import PRVAccountant, RDPAccountant

        accountants = [PRVAccountant(), RDPAccountant()]
        for a in accountants:
            a.history = [(self.noise, sampled, steps)]
        return self.accuracy(model), *(a.get_epsilon(DELTA) for a in accountants)

    def accuracy(self, model):
        model.eval()
        with torch.no_grad():
            right = sum((model(x).argmax(1) == y).sum().item() for x, y in zip(self.x[self.train :].split(self.batch), self.y[self.train :].split(self.batch)))
        return right / (len(self.y) - self.train)

    def run(self, seconds):
        if self.step_of_run is None:
            self.step_of_run = self.start(1)[1]
        examples, start = 0, time.perf_counter()
        while (elapsed := time.perf_counter() - start) < seconds:
            self.step_of_run(torch.randint(0, self.train, (self.batch,)))
            examples += self.batch
        return examples, elapsed


def main(folder, name, how):
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    example = Example(folder, name, how)
    for line in sys.stdin:
        command, amount = line.split()
        answer = example.train_network(int(amount)) if command == "train" else example.run(float(amount))
        print(*answer, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
