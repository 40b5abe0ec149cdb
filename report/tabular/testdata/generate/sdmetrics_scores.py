"""Writes ../scores.json: the scores that SDMetrics computes for the tables in the parent folder.

    pip install -r requirements.txt
    go test -run TestExportTables -export ./evaluate/tabular    # writes the tables
    python sdmetrics_scores.py
"""
import json
import math
import pathlib
import warnings

import pandas as pd
from sdmetrics.reports import QualityReport
from sdmetrics.reports.single_table._properties import ColumnPairTrends, ColumnShapes

warnings.filterwarnings("ignore")
HERE = pathlib.Path(__file__).resolve().parent.parent
NUMBERS = ("numeric", "integer", "target")


def number(x):
    return None if x is None or (isinstance(x, float) and math.isnan(x)) else float(x)


def table(name, columns):
    types = {c["name"]: float if c["type"] in NUMBERS else str for c in columns}
    return pd.read_csv(HERE / name, dtype=types, na_values=[""], keep_default_na=False)


def scores(name):
    columns = json.loads((HERE / f"{name}.schema.json").read_text())["columns"]
    real, fake = table(f"{name}_real.csv", columns), table(f"{name}_synthetic.csv", columns)
    meta = {"columns": {c["name"]: {"sdtype": "numerical" if c["type"] in NUMBERS else "categorical"} for c in columns}}
    shapes, pairs = ColumnShapes(), ColumnPairTrends()
    out = {"column_shapes": number(shapes.get_score(real, fake, meta)), "all_pairs": number(pairs.get_score(real, fake, meta))}
    report = QualityReport()
    report.generate({"table": real}, {"table": fake}, {"tables": {"table": meta}}, verbose=False)
    properties = dict(zip(report.get_properties()["Property"], report.get_properties()["Score"]))
    out["column_pair_trends"], out["score"] = number(properties["Column Pair Trends"]), number(report.get_score())
    assert abs(properties["Column Shapes"] - out["column_shapes"]) < 1e-12
    out["shapes"] = [{"column": r["Column"], "metric": r["Metric"], "score": number(r["Score"])} for _, r in shapes.details.iterrows()]
    related = report.get_details("Column Pair Trends", "table")
    for (_, r), (_, q) in zip(pairs.details.iterrows(), related.iterrows()):
        assert (r["Column 1"], r["Column 2"]) == (q["Column 1"], q["Column 2"])
        meets = q["Meets Threshold?"]
        out.setdefault("pairs", []).append({"columns": [r["Column 1"], r["Column 2"]], "metric": r["Metric"], "score": number(r["Score"]), "real": number(r["Real Correlation"]), "synthetic": number(r["Synthetic Correlation"]), "association": number(q["Real Association"]), "related": not pd.isna(meets) and bool(meets)})
    return out


def main():
    names = sorted(p.name.removesuffix(".schema.json") for p in HERE.glob("*.schema.json"))
    assert len(names) == 5
    (HERE / "scores.json").write_text(json.dumps({n: scores(n) for n in names}, indent=1, allow_nan=False) + "\n")


if __name__ == "__main__":
    main()
