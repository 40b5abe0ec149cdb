"""Times all candidates in turn and prints medians and ratios.

    python compare.py PROGRAM [--restarts N] [--rounds N] [--seconds S] [--batches 600,1024] [--cores 1,2]

PROGRAM is the Go program of this folder, built by `go build`. Candidates are
processes that wait on standard input, so that samples alternate without restarts.
All candidates are restarted a few times, because the speed of a process depends a
little on the location of its memory.
"""

import argparse
import os
import platform
import statistics
import subprocess
import sys
import time
from importlib import metadata

HERE = os.path.dirname(os.path.abspath(__file__))
REFERENCE = "privgen, private"
WARM_UP = 20

# Without these settings, glibc returns every large tensor to the system when it is freed,
# and each step has to get new pages.
KEEP_MEMORY = {
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(1 << 40),
    "MALLOC_TOP_PAD_": str(256 << 20),
    "MALLOC_ARENA_MAX": "1",
}


def candidates(program):
    def ours(name):
        return [program, name], {}

    def python(*script):
        return [sys.executable, "-W", "ignore", os.path.join(HERE, script[0]), *script[1:]]

    def peer(name, tuned=True):
        return python("peers.py", name), KEEP_MEMORY if tuned else {}

    return {
        REFERENCE: ours("private"),
        "privgen, private, Poisson batches": ours("private-poisson"),
        "privgen, not private": ours("plain"),
        "JAX, not private": (python("jax_step.py"), {}),
        "PyTorch, not private": peer("pytorch"),
        "PyTorch, not private, loss never evaluated": peer("pytorch-lean"),
        "PyTorch, not private, torch.compile": peer("pytorch-compile"),
        "Opacus, ghost clipping": peer("opacus-ghost"),
        "Opacus, default hooks": peer("opacus-hooks"),
        "Opacus, default hooks, allocator as installed": peer("opacus-hooks", tuned=False),
    }


class Candidate:
    def __init__(self, argv, environment, batch, cores):
        cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))[-cores:]))
        self.process = subprocess.Popen(
            ["taskset", "-c", cpus, *argv, str(batch)],
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if not answer:
            raise RuntimeError(f"a candidate has ended without an answer: {self.process.args}")
        return [float(word) for word in answer]

    def schedule(self):
        """Seconds that each thread ran, and seconds that it waited for a core."""
        folder, times = f"/proc/{self.process.pid}/task", {}
        for thread in os.listdir(folder):
            with open(f"{folder}/{thread}/schedstat") as f:
                ran, waited, _ = f.read().split()
            times[thread] = int(ran) / 1e9, int(waited) / 1e9
        return times

    def sample(self, seconds):
        before = self.schedule()
        examples, wall = self.ask(f"run {seconds}")
        after = self.schedule()
        ran, waited = (sum(after[t][i] - before.get(t, (0, 0))[i] for t in after) for i in (0, 1))
        return {"wall": examples / wall, "cpu": examples / ran, "waited": waited / wall}

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def start(program, batch, cores, steps):
    running = {}
    for name, (argv, environment) in candidates(program).items():
        candidate = Candidate(argv, environment, batch, cores)
        try:
            candidate.loss = candidate.ask(f"check {steps}")[0]
            running[name] = candidate
        except (RuntimeError, BrokenPipeError):
            print(f"{name}: cannot run", flush=True)
    return running


def setting(program, batch, cores, restarts, rounds, seconds):
    """Samples and loss of every candidate for one batch size and number of cores."""
    samples, losses = {}, {}
    for again in range(restarts):
        running = start(program, batch, cores, 3 if again else WARM_UP)
        names = list(running)
        for turn in range(rounds):
            for i in range(len(names)):
                name = names[(i + turn) % len(names)]
                samples.setdefault(name, []).append(running[name].sample(seconds))
                time.sleep(0.05)  # idle threads may spin briefly before they sleep
        for name, candidate in running.items():
            losses.setdefault(name, candidate.loss)
            candidate.close()
    return {name: (samples[name], losses[name]) for name in losses}


def quiet(samples):
    """The third of the samples whose threads waited least for a core."""
    return sorted(samples, key=lambda s: s["waited"])[: -(-len(samples) // 3)]


def median(samples, key):
    return statistics.median(s[key] for s in samples)


def report(results, batch, cores):
    columns = {
        "processor time": lambda s: median(s, "cpu"),
        "wall": lambda s: median(s, "wall"),
        "wall, quiet third": lambda s: median(quiet(s), "wall"),
    }
    if cores > 1:
        del columns["processor time"]  # meaningless, since idle OpenMP threads spin
    print(f"\n#### Batch {batch}, {cores} core{'s' * (cores > 1)}: examples per second (ratio of {REFERENCE} to the candidate)\n")
    print("| | " + " | ".join(columns) + f" | waiting | loss after {WARM_UP} steps |")
    print("|---" * (len(columns) + 3) + "|")
    ours = {title: of(results[REFERENCE][0]) for title, of in columns.items()}
    for name, (samples, loss) in results.items():
        cells = []
        for title, of in columns.items():
            rate = of(samples)
            cells.append(f"{rate:,.0f}" + (f" ({ours[title] / rate:.2f})" if name != REFERENCE else ""))
        waited = median(samples, "waited")
        print(f"| {name} | " + " | ".join(cells) + f" | {waited:.0%} | {loss:.1f} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--restarts", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--batches", default="600,1024")
    parser.add_argument("--cores", default="1,2")
    options = parser.parse_args()
    versions = ", ".join(f"{d.name} {d.version}" for d in metadata.distributions() if d.name in ("torch", "opacus", "jax"))
    print(f"{time.strftime('%Y-%m-%d %H:%M')} UTC, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, Python {platform.python_version()}, {versions}")
    for cores in map(int, options.cores.split(",")):
        for batch in map(int, options.batches.split(",")):
            report(setting(options.program, batch, cores, options.restarts, options.rounds, options.seconds), batch, cores)
    print(f"\nload at the end {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
