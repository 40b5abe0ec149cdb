"""Writes the data of the five networks for both programs.

    python data.py MNIST FASHION-MNIST FOLDER

MNIST and FASHION-MNIST are folders with the four files of the data set. Names come
from the package Faker. Texts are the doc strings of five installed packages.
FOLDER/NETWORK.x has the coordinates of all records as float32 and NETWORK.y their
classes as int32: first the records for training, then those for testing.
"""

import ast
import gzip
import importlib
import json
import os
import re
import sys
import unicodedata
import zlib

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
COUNTRIES = "cs_CZ da_DK de_DE en_GB es_ES et_EE fi_FI fr_FR hr_HR hu_HU it_IT lt_LT nl_NL pl_PL pt_PT ro_RO sv_SE tr_TR".split()
PACKAGES = "networkx numpy scipy sympy torch".split()


def idx(folder, name):
    with gzip.open(os.path.join(folder, name + ".gz")) as f:
        raw = f.read()
    shape = [int.from_bytes(raw[4 + 4 * i : 8 + 4 * i], "big") for i in range(raw[3])]
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * len(shape)).reshape(shape)


def images(folder):
    x = np.concatenate([idx(folder, f"{part}-images-idx3-ubyte") for part in ("train", "t10k")])
    y = np.concatenate([idx(folder, f"{part}-labels-idx1-ubyte") for part in ("train", "t10k")])
    return x.astype(np.float32) / 255, y


def pictures(folder, train):
    """Pictures of 32×32 pixels with three channels: a grey picture in three brightnesses."""
    x, y = images(folder)
    x = np.pad(x, ((0, 0), (2, 2), (2, 2)))[..., None] * np.array([1, 0.8, 0.6], np.float32)
    keep = np.r_[0:train, 60000:65000]
    return x[keep], y[keep]


def letters_of(text):
    """The text in a to z: accents are dropped, and anything else is a space."""
    plain = unicodedata.normalize("NFKD", text.replace("ß", "ss").replace("ł", "l").replace("ø", "o").replace("æ", "ae").replace("ı", "i"))
    plain = "".join(c for c in plain.lower() if not unicodedata.combining(c))
    return re.sub("[^a-z]+", " ", plain).strip()


def names(rng):
    x, y = [], []
    for label, country in enumerate(COUNTRIES):
        provider = importlib.import_module(f"faker.providers.person.{country}").Provider
        found = set()
        for attribute in dir(provider):
            if re.match("(first|last)_names", attribute):
                found.update(letters_of(name) for name in getattr(provider, attribute))
        for name in sorted(found):
            name = name.replace(" ", "")[:16]
            if name:
                x.append([0] * (16 - len(name)) + [ord(c) - 96 for c in name])
                y.append(label)
    order = rng.permutation(len(y))
    return np.array(x)[order], np.array(y)[order]


def doc_strings(package):
    """The doc strings of a package's files, one text for each file, in a fixed order."""
    root = os.path.dirname(importlib.import_module(package).__file__)
    for folder, folders, files in os.walk(root):
        folders.sort()
        for name in sorted(files):
            if not name.endswith(".py"):
                continue
            with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as f:
                try:
                    tree = ast.parse(f.read())
                except (SyntaxError, ValueError):
                    continue
            nodes = (n for n in ast.walk(tree) if isinstance(n, (ast.Module, ast.ClassDef, ast.FunctionDef)))
            yield " ".join(letters_of(ast.get_docstring(n) or "") for n in nodes)


def divided(of_files, train, rng):
    """Records for training and others for testing, from different files."""
    order = rng.permutation(len(of_files))
    records = [r for i in order for r in of_files[i]]
    at = np.r_[rng.permutation(train), train : min(train + 5000, len(records))]
    return [records[i] for i in at]


def texts(train, rng):
    """Texts of 64 words; the class is the package. Words are numbered by a hash."""
    of_files = []
    for label, package in enumerate(PACKAGES):
        for text in doc_strings(package):
            words = [zlib.crc32(w.encode()) % 10000 for w in text.split()]
            of_files.append([(words[i : i + 64], label) for i in range(0, len(words) - 63, 64)])
    records = divided(of_files, train, rng)
    return np.array([r[0] for r in records]), np.array([r[1] for r in records])


def letters(train, rng):
    """32 letters, their positions, and the next letter."""
    of_files = []
    for package in PACKAGES:
        for text in doc_strings(package):
            codes = [0 if c == " " else ord(c) - 96 for c in text]
            of_files.append([codes[i : i + 33] for i in range(0, len(codes) - 32, 33)])
    x = np.array(divided(of_files, train, rng))
    return np.c_[x[:, :32], np.tile(np.arange(32), (len(x), 1))], x[:, 32]


def main(mnist, fashion, folder):
    with open(os.path.join(HERE, "settings.json")) as f:
        train = {name: s["train"] for name, s in json.load(f).items()}
    rng = np.random.default_rng(1)
    data = {
        "mnist": images(mnist),
        "names": names(rng),
        "text": texts(train["text"], rng),
        "letters": letters(train["letters"], rng),
        "pictures": pictures(fashion, train["pictures"]),
    }
    os.makedirs(folder, exist_ok=True)
    for name, (x, y) in data.items():
        x.astype("<f4").tofile(os.path.join(folder, name + ".x"))
        y.astype("<i4").tofile(os.path.join(folder, name + ".y"))
        print(name, len(y) - train[name], "for testing;", np.bincount(y).tolist())


if __name__ == "__main__":
    main(*sys.argv[1:])
