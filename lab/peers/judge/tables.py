"""Tables as matrices: CSV files of real or synthetic records, read by a schema file of privgen or by an inferred schema."""
import csv
import gzip
import io
import json

import numpy as np

MISSING = ("", "?")
NUMBERS = {"numeric", "integer", "target", "duration"}  # types of columns


def text_of(path):
    raw = open(path, "rb").read()
    if raw[:2] == b"\x1f\x8b":
        raw = gzip.decompress(raw)
    return raw.decode("utf-8", "replace")


def rows_of(path):
    """The cells of every line that is not empty. Comment lines have a different number of cells, as in adult.test, and are skipped."""
    rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text_of(path)), skipinitialspace=True) if row]
    width = max(len(r) for r in rows)
    return [r for r in rows if len(r) == width]


def read_schema(path):
    with open(path) as f:
        columns = json.load(f)["columns"]
    for c in columns:
        c.setdefault("levels", [])
        c.setdefault("aliases", {})
        c.setdefault("missing", False)
    return columns


def log_unit(c):
    """The unit u of the scale log(1 + (v - lo)/u) of a logarithmic column; see records.Column.LogUnit."""
    return c["lo"] if c["lo"] > 0 else 1


def infer_schema(paths, label):
    """Columns inferred from the files: numbers if every cell is a number, otherwise levels in sorted order."""
    cells, names = [], None
    for path in paths:
        rows = rows_of(path)
        if any(is_name(c) for c in rows[0]) and not any(is_number(c) for c in rows[0]):
            names, rows = rows[0], rows[1:]
        cells += rows
    names = names or [f"column{i + 1}" for i in range(len(cells[0]))]
    label = label or names[-1]
    columns = []
    for j, name in enumerate(names):
        values = {r[j] for r in cells}
        known = sorted(values - set(MISSING))
        missing = bool(values & set(MISSING))
        if name == label:
            plain = [v for v in known if not (v.endswith(".") and v[:-1] in values)]  # the labels of adult.test end in a dot
            columns.append({"name": name, "type": "label", "levels": plain, "missing": False, "aliases": {v: v[:-1] for v in known if v not in plain}})
        elif all(is_number(v) for v in known):
            numbers = [float(v) for v in known] or [0.]
            columns.append({"name": name, "type": "numeric", "lo": min(numbers), "hi": max(numbers), "levels": [], "missing": missing, "aliases": {}})
        else:
            columns.append({"name": name, "type": "categorical", "levels": known, "missing": missing, "aliases": {}})
    return columns


def is_number(v):
    try:
        float(v)
        return True
    except ValueError:
        return v in MISSING


def is_name(v):
    return v not in MISSING and not is_number(v)


class Table:
    """Encodes files of one schema as x and y, with the same columns for every file."""

    def __init__(self, columns, encode="onehot", scale="none", label=None):
        self.columns, self.encode, self.scale = columns, encode, scale
        for c in columns:
            if label and c["name"] == label:
                c["type"] = "label"
        self.label = next((c for c in columns if c["type"] == "label"), None)
        self.classes = self.label["levels"] if self.label else []

    def read(self, path):
        rows = rows_of(path)
        names = [c["name"] for c in self.columns]
        if set(names) <= set(rows[0]):
            place, rows = {n: rows[0].index(n) for n in names}, rows[1:]
        elif len(rows[0]) == len(names):
            place = {n: i for i, n in enumerate(names)}
        else:
            raise SystemExit(f"{path}: {len(rows[0])} columns, but the schema has {len(names)}, and the first line does not name the schema's columns")
        cells = list(zip(*rows))
        blocks = [self.block(c, cells[place[c["name"]]]) for c in self.columns if c is not self.label]
        y = self.codes(self.label, cells[place[self.label["name"]]])
        return np.hstack(blocks).astype(np.float64), y

    def block(self, c, cells):
        """One column: a number, or a level one-hot (or as an integer code). A missing value is a level, or has a column of its own."""
        if not c["levels"]:
            return self.numbers(c, cells)
        codes = self.codes(c, cells)
        if self.encode == "onehot" and c["type"] == "categorical":
            return np.eye(len(c["levels"]) + c["missing"])[codes]
        scaled = codes / max(len(c["levels"]) - 1, 1) if self.scale == "bounds" else codes
        return scaled[:, None]

    def numbers(self, c, cells):
        v = np.array([np.nan if s in MISSING or not is_number(s) else float(s) for s in cells])
        absent = np.isnan(v)
        v = np.clip(np.where(absent, c["lo"], v), c["lo"], c["hi"])
        if self.scale == "bounds":
            v = (v - c["lo"]) / max(c["hi"] - c["lo"], 1e-12)
        return np.column_stack([v, absent]) if c["missing"] else v[:, None]

    def codes(self, c, cells):
        """Levels as numbers. An unknown value becomes the declared other level, or else missing if that is a level, or else the first level."""
        index = {l: i for i, l in enumerate(c["levels"])}
        for text, level in c["aliases"].items():
            index.setdefault(text, index[level])
        other = index.get(c.get("other") or None, len(c["levels"]) if c["missing"] else 0)
        absent = len(c["levels"]) if c["missing"] else other
        numbers = {float(l): i for l, i in index.items() if is_number(l) and l not in MISSING}
        out = np.empty(len(cells), dtype=np.int64)
        for i, s in enumerate(cells):
            if s in index:
                out[i] = index[s]
            elif s in MISSING:
                out[i] = absent
            else:
                out[i] = numbers.get(float(s), other) if numbers and is_number(s) else other
        return out
