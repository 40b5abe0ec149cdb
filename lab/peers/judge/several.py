"""Scores several tables by SDMetrics.

    python several.py TABLES.json REAL SYNTHETIC...

TABLES.json describes the tables, REAL and SYNTHETIC are folders of CSV files, as the command reads
and writes them. The last line scores the real rows whose parents are exchanged at random: what is
left of the scores without any relation between tables.
"""

import json
import sys
import warnings

import pandas as pd
from sdmetrics.reports.multi_table import QualityReport

from tables import NUMBERS

warnings.filterwarnings("ignore")


def walk(table, parent=None):
    yield table, parent
    for child in table.get("children", []):
        yield from walk(child, table)


def columns(table):
    return table.get("schema", {}).get("columns", [])


def keys(table):
    return table.get("parents", []) + ([table["key"]] if table.get("key") else [])


def metadata(root):
    meta = {"tables": {}, "relationships": []}
    for t, parent in walk(root):
        kinds = {c["name"]: {"sdtype": "numerical" if c["type"] in NUMBERS else "categorical"}
                 for c in columns(t)}
        kinds["_row"] = kinds["_parent"] = {"sdtype": "id"}
        if parent is None:
            del kinds["_parent"]
        else:
            meta["relationships"].append({
                "parent_table_name": parent["name"], "parent_primary_key": "_row",
                "child_table_name": t["name"], "child_foreign_key": "_parent"})
        meta["tables"][t["name"]] = {"primary_key": "_row", "columns": kinds}
    return meta


def joined(frame, names):
    return frame[names].astype(str).agg("/".join, axis=1)


def load(folder, root):
    data = {}
    for t, parent in walk(root):
        texts = {k: str for k in keys(t)}
        texts |= {c["name"]: str for c in columns(t) if c["type"] not in NUMBERS}
        frame = pd.read_csv(f"{folder}/{t['name']}.csv", dtype=texts)
        if parent is not None:
            frame["_parent"] = joined(frame, t["parents"])
        named = t.get("key")
        frame["_row"] = joined(frame, keys(t)) if named else [str(i) for i in range(len(frame))]
        data[t["name"]] = frame.drop(columns=keys(t))
    return data


def score(name, real, other, meta):
    report = QualityReport()
    report.generate(real, other, meta, verbose=False)
    parts = report.get_properties().set_index("Property")["Score"].round(9).to_dict()
    print(name, parts, flush=True)


def main(path, real, *synthetic):
    with open(path, encoding="utf-8") as f:
        root = json.load(f)
    meta, rows = metadata(root), load(real, root)
    for folder in synthetic:
        score(folder, rows, load(folder, root), meta)
    shuffled = {name: frame.copy() for name, frame in rows.items()}
    for frame in shuffled.values():
        if "_parent" in frame:
            frame["_parent"] = frame["_parent"].sample(frac=1, random_state=1).values
    score("real rows with exchanged parents", rows, shuffled, meta)


if __name__ == "__main__":
    main(*sys.argv[1:])
