"""Judges synthetic records by classifiers trained on them and tested on real records, next to classifiers trained on real records.

    python judge.py table  --schema schema.json --synthetic run0.csv run1.csv --real adult.data.gz --test adult.test.gz
    python judge.py images --synthetic run0.npz --real train-images.gz:train-labels.gz --test t10k-images.gz:t10k-labels.gz
    python judge.py images --grid grid.png --synthetic run0.npz --test held-images.gz:held-labels.gz

README.md explains the columns.
"""
import argparse
import gzip
import json
import time
import warnings

import numpy as np
from sklearn.metrics import accuracy_score, average_precision_score, f1_score, roc_auc_score

import classifiers
import grids
import tables

MEASURES = ("accuracy", "weighted F1", "macro F1", "ROC hard", "PRC hard", "ROC scores", "PRC scores")


def areas(y, s, classes):
    """ROC and average precision of the second of two classes, or the mean over the classes that occur, each against the rest."""
    columns = [1] if classes == 2 else [c for c in range(classes) if 0 < (y == c).sum() < len(y)]
    return [float(np.mean([f(y == c, s[:, c]) for c in columns])) for f in (roc_auc_score, average_precision_score)]


def measure(model, x, y, classes):
    named = np.asarray(model.predict(x)).astype(int)
    f1 = [f1_score(y, named, average=a) for a in ("weighted", "macro")]
    return [accuracy_score(y, named), *f1, *areas(y, np.eye(classes)[named], classes), *areas(y, model.scores(x, classes), classes)]


def thin(x, y, most, keep, rng):
    """A random part of the records: the fraction keep of the most frequent class, and at most `most` records in all."""
    rows = np.arange(len(y))
    if keep < 1:
        rows = rows[(y != np.bincount(y).argmax()) | (rng.random(len(y)) < keep)]
    if most and len(rows) > most:
        rows = np.sort(rng.choice(rows, most, replace=False))
    return x[rows], y[rows]


def judge(train, test, classes, make, only):
    """The measures of each classifier, which are also printed, one line for each."""
    out = {}
    for name, model in make.items():
        if only and name not in only:
            continue
        start = time.time()
        if name != "CNN":
            model = classifiers.Relabelled(model)
        model.fit(*train)
        out[name] = measure(model, *test, classes)
        print(f"    {name:22s} " + " ".join(f"{v:9.4f}" for v in out[name]) + f"   {time.time() - start:6.1f} s", flush=True)
    return out


def mean_of(lines):
    twelve = [v for name, v in lines.items() if name != "CNN"]
    return np.mean(twelve or list(lines.values()), axis=0)


def run(sources, test, classes, make, a):
    """Judges every source with its own seed and prints means and standard deviations."""
    print(f"{'':27s}" + " ".join(f"{m:>9s}" for m in MEASURES))
    found = []
    for kind, seed, name, load in sources:
        rng = np.random.default_rng(seed)
        train = thin(*load(), a.most, a.keep_majority, rng)
        held = thin(*test, a.most_test, a.keep_test_majority, np.random.default_rng(0))
        counts = np.bincount(train[1], minlength=classes)
        print(f"  {kind} {name}: seed {seed}, {len(train[1])} training records {counts.tolist()}, {len(held[1])} test records, {train[0].shape[1]} coordinates", flush=True)
        lines = judge(train, held, classes, make(seed), a.only)
        mean = mean_of(lines)
        print(f"    {'mean without CNN' if 'CNN' in lines else 'mean':22s} " + " ".join(f"{v:9.4f}" for v in mean), flush=True)
        found.append({"kind": kind, "seed": seed, "name": name, "train": len(train[1]), "test": len(held[1]), "lines": lines, "mean": mean.tolist()})
    summary(found)
    if a.json:
        with open(a.json, "w") as f:
            json.dump({"measures": MEASURES, "settings": vars(a), "runs": found}, f, indent=1)


def summary(found):
    print(f"\n{'mean ± standard deviation':27s}" + " ".join(f"{m:>15s}" for m in MEASURES))
    for kind in dict.fromkeys(f["kind"] for f in found):
        runs = [f for f in found if f["kind"] == kind]
        rows = {n: [f["lines"][n] for f in runs] for n in runs[0]["lines"]} | {"mean": [f["mean"] for f in runs]}
        print(f"  {kind}, {len(runs)} runs")
        for name, values in rows.items():
            v = np.array(values)
            spread = [f" ±{s:6.4f}" for s in v.std(axis=0, ddof=1)] if len(v) > 1 else [" " * 8] * v.shape[1]
            print(f"    {name:22s} " + " ".join(f"{m:7.4f}{s}" for m, s in zip(v.mean(axis=0), spread)))


def sources_of(a, read):
    """The sources to judge: each synthetic file with its own seed, and the real records once for each seed."""
    sources = [("synthetic", seed, path, lambda p=path: read(p)) for seed, path in enumerate(a.synthetic, a.seed)]
    if a.real:
        sources += [("real", a.seed + i, a.real, lambda: read(a.real)) for i in range(a.real_seeds)]
    return sources


def table(a):
    files = [f for f in (a.real, a.test, *a.synthetic) if f]
    columns = tables.read_schema(a.schema) if a.schema else tables.infer_schema(files, a.label)
    t = tables.Table(columns, a.encode, a.scale, a.label)
    print(f"classes {t.classes}; levels {a.encode}, numbers scaled: {a.scale}; at most {a.most or 'all'} training records, fraction {a.keep_majority:g} of the most frequent class kept")
    run(sources_of(a, t.read), t.read(a.test), len(t.classes), classifiers.for_tables, a)


def idx(path):
    raw = gzip.decompress(open(path, "rb").read()) if path.endswith(".gz") else open(path, "rb").read()
    shape = [int.from_bytes(raw[4 + 4 * i:8 + 4 * i], "big") for i in range(raw[3])]
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * len(shape)).reshape(shape)


def cifar(paths):
    """Images and labels of CIFAR-10's binary files, with the colours of a pixel next to each other."""
    raw = np.concatenate([np.fromfile(p, np.uint8).reshape(-1, 3073) for p in paths])
    return raw[:, 1:].reshape(-1, 3, 1024).transpose(0, 2, 1), raw[:, 0]


def read_images(source):
    """Images as rows in [0, 1] with labels: an npz of arrays x and y, two idx files joined by a colon, or CIFAR-10's binary files joined by commas."""
    if source.endswith(".bin"):
        x, y = cifar(source.split(","))
    elif ":" in source:
        images, labels = source.split(":")
        x, y = idx(images), idx(labels)
    else:
        with np.load(source) as f:
            x, y = f["x"], f["y"]
    x = x.reshape(len(x), -1).astype(np.float32)
    return x / 255 if x.max() > 1 else x, y.astype(np.int64)


def shape(pixels):
    """The side and the number of colours of square images."""
    for colours in (1, 3):
        side = int(round((pixels / colours) ** .5))
        if side * side * colours == pixels:
            return side, colours
    raise ValueError(f"{pixels} values are not a square image, grey or in three colours")


def images(a):
    test = read_images(a.test)
    classes, (side, colours) = int(test[1].max()) + 1, shape(test[0].shape[1])
    if a.grid:
        return grids.judge(a, test, read_images, classes, side, colours)
    print(f"{classes} classes, at most {a.most or 'all'} training records; linear models {'with few iterations (--quick)' if a.quick else 'as in the paper'}; CNN {a.epochs} epochs")

    def make(seed):
        found = {} if a.cnn_only else classifiers.for_images(seed, a.quick)
        return found if a.no_cnn else found | {"CNN": classifiers.CNN(seed, a.epochs, side, colours)}
    run(sources_of(a, read_images), test, classes, make, a)


def arguments():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    kinds = p.add_subparsers(required=True)
    for name, do in (("table", table), ("images", images)):
        k = kinds.add_parser(name)
        k.set_defaults(do=do)
        k.add_argument("--synthetic", nargs="*", default=[], help="files of synthetic records, one for each run")
        k.add_argument("--real", help="the real training records, for the baseline")
        k.add_argument("--test", required=True, help="real records that were used neither for synthesis nor for training")
        k.add_argument("--seed", type=int, default=0, help="seed of the first run; further runs have the following seeds")
        k.add_argument("--real-seeds", type=int, default=1, help="number of seeds with which the baseline is repeated")
        k.add_argument("--most", type=int, default=0, help="largest number of training records, drawn at random; 0 for all")
        k.add_argument("--most-test", type=int, default=0)
        k.add_argument("--keep-majority", type=float, default=1, help="fraction of the most frequent class that is used for training")
        k.add_argument("--keep-test-majority", type=float, default=1, help="fraction of the most frequent class that is used for testing, as in the paper")
        k.add_argument("--only", nargs="*", help="names of the classifiers to run; all by default")
        k.add_argument("--json", help="file to write all results to")
    t, i = (kinds.choices[n] for n in ("table", "images"))
    t.add_argument("--schema", help="a schema file of privgen; without it, columns are inferred from all files")
    t.add_argument("--label", help="name of the class column; the last one by default")
    t.add_argument("--encode", choices=("onehot", "codes"), default="onehot", help="encoding of levels; the paper's own tables have codes")
    t.add_argument("--scale", choices=("none", "bounds"), default="none", help="scaling of numbers: none, as in the paper, or from the schema's bounds to [0, 1]")
    i.add_argument("--quick", action="store_true", help="limit the iterations of the linear models")
    i.add_argument("--epochs", type=int, default=5, help="epochs of the CNN")
    i.add_argument("--grid", help="PNG file of ten images of each class; instead of accuracies, states how many of them a CNN of real images takes for another class or finds ambiguous")
    i.add_argument("--no-cnn", action="store_true")
    i.add_argument("--cnn-only", action="store_true")
    return p.parse_args()


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    chosen = arguments()
    do = chosen.__dict__.pop("do")
    do(chosen)
