"""Prints the means of a file of results as a table.

    python3 summary.py results.jsonl
"""
import json
import statistics
import sys


def main():
    runs = {}
    for line in open(sys.argv[1]):
        r = json.loads(line)
        runs.setdefault((r["job"], "none" if r["library"] == "sklearn" else f"{r['epsilon']:g}",
                         r["library"]), []).append(r)
    print("| job | ε | library | δ | runs | quality | deviation | worst | processor time |")
    print("|---|---|---|---|---|---|---|---|---|")
    for (job, epsilon, library), list_ in sorted(runs.items()):
        quality = [r["quality"] for r in list_]
        worst = min(quality) if job == "logistic" else max(quality)
        print(f"| {job} | {epsilon} | {library} | {list_[0]['delta']:g} | {len(list_)} | "
              f"{statistics.mean(quality):.4f} | {statistics.stdev(quality):.4f} | {worst:.4f} | "
              f"{statistics.median(r['processor'] for r in list_):.2f} s |")


if __name__ == "__main__":
    main()
