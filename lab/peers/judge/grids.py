"""Counts the images of a grid, ten of each class, that a CNN of real images takes for another class or finds ambiguous."""
import struct
import zlib
from pathlib import Path

import numpy as np

import classifiers

ACROSS = 10      # images of a class in the grid
AMBIGUOUS = .2   # an image is ambiguous if the second class has a larger probability


def judge(a, test, read, classes, side, colours):
    """The CNN learns from --real or, without it, from one half of --test. The other real images are judged first."""
    order = np.random.default_rng(a.seed).permutation(len(test[1]))
    half = [tuple(v[rows] for v in test) for rows in np.array_split(order, 2)]
    train, held = (read(a.real), test) if a.real else half
    net = classifiers.CNN(a.seed, a.epochs, side, colours).fit(*train)
    print(f"a CNN of {len(train[1])} real images, seed {a.seed}, {a.epochs} epochs; ambiguous: the second class has a probability above {AMBIGUOUS:g}")
    print(f"{'':42s} {'grid of ' + str(ACROSS) + ' of each class':^42s} {'all images':^30s}")
    print(f"{'':42s} {'another class':>14s} {'ambiguous':>10s} {'rows of none':>16s} {'images':>9s} {'another class':>14s} {'ambiguous':>10s}")
    one(net, held, classes, a.seed, "real, not learnt")
    for seed, path in enumerate(a.synthetic, a.seed):
        drawn = read(path)
        rows = one(net, drawn, classes, seed, path)
        name = Path(a.grid)
        save(name if len(a.synthetic) == 1 else name.with_stem(f"{name.stem}-{seed}"), drawn[0][rows], side, colours)


def one(net, data, classes, seed, name):
    """Prints the line of one set of images and returns the rows of its grid, class by class."""
    x, y = data
    p = net.scores(x, classes)
    other = p.argmax(axis=1) != y
    unsure = np.sort(p, axis=1)[:, -2] > AMBIGUOUS
    rng = np.random.default_rng(seed)
    rows = np.array([rng.choice(np.flatnonzero(y == c), ACROSS, replace=False) for c in range(classes)])
    clear = int((~(other | unsure)[rows]).all(axis=1).sum())
    total = rows.size
    print(f"{name[-42:]:42s} {f'{other[rows].sum()} of {total}':>14s} {f'{unsure[rows].sum()} of {total}':>10s} {f'{clear} of {classes}':>16s} "
          f"{len(y):9d} {other.mean():14.4f} {unsure.mean():10.4f}", flush=True)
    return rows.reshape(-1)


def save(path, x, side, colours, zoom=2):
    """Writes images as a PNG file with ACROSS images in a row."""
    tiles = np.rint(np.clip(x, 0, 1) * 255).astype(np.uint8).reshape(-1, ACROSS, side, side, colours)
    sheet = np.pad(tiles, ((0, 0), (0, 0), (1, 1), (1, 1), (0, 0)), constant_values=255)
    sheet = sheet.transpose(0, 2, 1, 3, 4).reshape(-1, ACROSS * (side + 2), colours).repeat(zoom, 0).repeat(zoom, 1)
    height, width = sheet.shape[:2]

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    lines = b"".join(b"\0" + row.tobytes() for row in sheet)
    head = struct.pack(">IIBBBBB", width, height, 8, 2 if colours == 3 else 0, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b""))
    print("wrote", path)
