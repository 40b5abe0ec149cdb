"""Fits dpsynth's relational system to several tables, and writes what it draws.

    python dpsynth_tables.py TABLES.json REAL OUT EPSILON DELTA SEED [mst|aim]

TABLES.json describes the tables, REAL is a folder of CSV files, as the command reads them. Every
column is categorical or a number between its bounds.
"""

import json
import math
import pathlib
import sys
import time

import jax

jax.config.update("jax_enable_x64", True)

import dpsynth.relational as relational
import numpy as np
import pandas as pd
from dpsynth import discrete_mechanisms, domain
from scipy.optimize import brentq
from scipy.stats import norm

from several import NUMBERS, columns, joined, keys, walk


def attribute(c):
    if c["type"] in NUMBERS:
        return domain.NumericalAttribute(min_value=c["lo"], max_value=c["hi"], clip_to_range=True,
                                         dtype="int" if c["type"] == "integer" else "float")
    return domain.CategoricalAttribute(possible_values=[str(x) for x in c["levels"]])


def rho(epsilon, delta):
    """Half the squared ratio of sensitivity to noise of one Gaussian release of this price. Other
    mechanisms of the same zero-concentrated bound cost more: this is in favour of dpsynth, whose own
    calibration fails with dp_accounting 0.6.0."""
    def excess(mu):
        return (norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
                - delta)
    return brentq(excess, 1e-3, 10) ** 2 / 2


def main(tables, folder, out, epsilon, delta, seed, kind="mst"):
    with open(tables, encoding="utf-8") as f:
        root = json.load(f)
    domains, links, data, names = {}, [], {}, {}
    for t, parent in walk(root):
        texts = {k: str for k in keys(t)}
        texts |= {c["name"]: str for c in columns(t) if c["type"] not in NUMBERS}
        frame = pd.read_csv(f"{folder}/{t['name']}.csv", dtype=texts)
        row = joined(frame, keys(t)) if t.get("key") else [str(i) for i in range(len(frame))]
        own = frame[[c["name"] for c in columns(t)]].copy()
        own["_row"] = row
        if parent is not None:
            own["_parent"] = joined(frame, t["parents"])
            links.append(relational.ForeignKeyRelation(
                parent_table=parent["name"], parent_primary_key="_row", child_table=t["name"],
                child_foreign_key="_parent", max_children_per_parent=t["most"]))
        data[t["name"]] = own
        domains[t["name"]] = {c["name"]: attribute(c) for c in columns(t)}
        names[t["name"]] = t, parent
    inner = (discrete_mechanisms.MSTConfig(pgm_iters=100) if kind == "mst" else
             discrete_mechanisms.AIMConfig(max_model_size=1))
    config = relational.MultiTableConfig(
        domains=domains, foreign_keys=links, discrete_mechanism=inner, num_permutation_slots=3,
        exploration_strategy="size_sliced")
    start = time.process_time()
    result = config.configure(zcdp_rho=rho(float(epsilon), float(delta)), delta=0)(
        np.random.default_rng(int(seed)), data)
    print(f"{time.process_time() - start:.0f} s of processor time")
    pathlib.Path(out).mkdir(parents=True, exist_ok=True)
    written = {}
    for name, (t, parent) in names.items():
        frame = result.synthetic_tables[name].reset_index(drop=True)
        if "_row" not in frame:
            frame["_row"] = np.arange(len(frame))
        own = pd.DataFrame({"_row": frame["_row"].astype(str)})
        if parent is not None:  # the keys of all tables above
            above = written[parent["name"]].set_index("_row")
            up = above.loc[frame["_parent"].astype(str)].reset_index()
            for k in t["parents"]:
                own[k] = up[k]
        if t.get("key"):
            own[t["key"]] = own["_row"]
        for c in columns(t):
            own[c["name"]] = frame[c["name"]]
        written[name] = own
        own.drop(columns="_row").to_csv(f"{out}/{name}.csv", index=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
