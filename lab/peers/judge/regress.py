"""R² of three regressors trained on each file and tested on real rows, for a table with a numeric target.

    python regress.py --schema schema.json --test held.csv [--drop casual,registered] run0.csv run1.csv

Levels are one-hot, and a date is its number of days. All files have a header.
"""
import argparse
import json

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def read(path, columns, drop):
    d = pd.read_csv(path, dtype=str, keep_default_na=False)
    x, y = [], None
    for c in columns:
        v = d[c["name"]]
        if c["type"] == "target":
            y = pd.to_numeric(v).values
        elif c["name"] in drop:
            continue
        elif c["type"] == "categorical":
            v = v.where(v.isin(c["levels"]), c.get("other"))
            x += [(v == level).values for level in c["levels"]]
        elif c["type"] == "datetime":
            x.append(((pd.to_datetime(v) - pd.Timestamp(c["lo"])).dt.total_seconds() / 86400).values)
        else:
            x.append(pd.to_numeric(v).values)
    return np.stack(x, 1).astype(float), y


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--schema", required=True)
    p.add_argument("--test", required=True)
    p.add_argument("--drop", default="", help="columns that are not given to the regressors")
    p.add_argument("files", nargs="+")
    a = p.parse_args()
    columns, drop = json.load(open(a.schema))["columns"], a.drop.split(",")
    test, truth = read(a.test, columns, drop)
    for path in a.files:
        x, y = read(path, columns, drop)
        models = (make_pipeline(StandardScaler(), Ridge()), RandomForestRegressor(100, random_state=0), HistGradientBoostingRegressor(random_state=0))
        found = [r2_score(truth, m.fit(x, y).predict(test)) for m in models]
        print(path, f"{np.mean(found):.3f}", *(f"{r:.3f}" for r in found), flush=True)


if __name__ == "__main__":
    main()
