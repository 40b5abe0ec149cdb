"""Times and trains the five networks with all candidates, and prints a table.

    python compare.py PROGRAM FOLDER [--networks mnist,…] [--rounds N] [--seconds S] [--seeds N] [--only NAME]

PROGRAM is the Go program of this folder and FOLDER has the files of data.py.
Candidates are processes on one core, which take turns.
"""

import argparse
import os
import platform
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import compare as steps  # noqa: E402

REFERENCE = "privgen, private"
SAME = "Opacus, weights as large as privgen's"  # for accuracy only


def candidates(program, folder, network):
    peer = [sys.executable, "-W", "ignore", os.path.join(HERE, "peers.py"), folder, network]
    return {
        REFERENCE: ([program, folder], {}),
        "Opacus, ghost clipping": ([*peer, "ghost"], steps.KEEP_MEMORY),
        "Opacus, default hooks": ([*peer, "hooks"], steps.KEEP_MEMORY),
        SAME: ([*peer, "same"], steps.KEEP_MEMORY),
        "PyTorch, not private": ([*peer, "pytorch"], steps.KEEP_MEMORY),
    }


def start(argv, environment, last):
    return steps.Candidate(argv, environment, last, 1)


def timed(program, folder, network, rounds, seconds):
    """The median of examples per second of processor time of every candidate, or None."""
    running, samples = {}, {}
    for name, (argv, environment) in candidates(program, folder, network).items():
        if name == SAME:
            continue
        last = network if name == REFERENCE else argv.pop()
        candidate = start(argv, environment, last)
        try:
            candidate.ask("run 0.1")
            candidate.ask("run 0.1")
            running[name] = candidate
        except (RuntimeError, BrokenPipeError):
            print(f"{network}, {name}: cannot run", flush=True)
    names = list(running)
    for turn in range(rounds):
        for i in range(len(names)):
            name = names[(i + turn) % len(names)]
            samples.setdefault(name, []).append(running[name].sample(seconds))
            time.sleep(0.05)
    for candidate in running.values():
        candidate.close()
    return {name: steps.median(s, "cpu") for name, s in samples.items()}


def trained(program, folder, network, name, seeds):
    """Accuracies for several seeds, and the printed ε."""
    argv, environment = candidates(program, folder, network)[name]
    candidate = start(argv, environment, network if name == REFERENCE else argv.pop())
    answers = [candidate.ask(f"train {seed}") for seed in range(1, seeds + 1)]
    candidate.close()
    return [a[0] for a in answers], answers[0][1:]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("folder")
    parser.add_argument("--networks", default="mnist,names,text,letters,pictures")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="", help="candidates whose names contain this are trained")
    options = parser.parse_args()
    import opacus, torch  # for their versions only

    print(f"{time.strftime('%Y-%m-%d %H:%M')} UTC, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, Python {platform.python_version()}, PyTorch {torch.__version__}, Opacus {opacus.__version__}\n")
    print("| network | | examples per second (ratio) | accuracy | ε |\n|---|---|--:|--:|---|")
    for network in options.networks.split(","):
        rates = timed(options.program, options.folder, network, options.rounds, options.seconds) if options.rounds else {}
        for name in candidates("", "", ""):
            rate = f"{rates[name]:,.0f} ({rates[REFERENCE] / rates[name]:.2f})" if name in rates else ""
            cells = [network, name, rate, "", ""]
            if options.only in name and options.seeds and name != "Opacus, ghost clipping":  # the same gradients as with hooks
                accuracies, epsilons = trained(options.program, options.folder, network, name, options.seeds)
                spread = statistics.stdev(accuracies) if len(accuracies) > 1 else 0
                cells[3] = f"{100 * statistics.mean(accuracies):.1f} ± {100 * spread:.1f} % (" + ", ".join(f"{100 * a:.1f}" for a in accuracies) + ")"
                cells[4] = ", ".join(f"{e:.3f}" for e in epsilons)
            print("| " + " | ".join(cells) + " |", flush=True)
    print(f"\nload at the end {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
