"""SDMetrics' quality scores of synthetic rows against real ones, a line for each score.

    python quality.py --schema schema.json --real test.csv --synthetic out.csv
"""
import argparse
import warnings

import pandas as pd

import tables

warnings.filterwarnings("ignore")
from sdmetrics.reports.single_table import QualityReport  # noqa: E402 (it warns)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--schema", required=True)
    p.add_argument("--real", required=True)
    p.add_argument("--synthetic", required=True)
    a = p.parse_args()
    columns = tables.read_schema(a.schema)
    kinds = {"datetime": {"sdtype": "datetime", "datetime_format": "%Y-%m-%d"}}
    kinds |= {k: {"sdtype": "numerical"} for k in tables.NUMBERS}
    meta = {"columns": {c["name"]: kinds.get(c["type"], {"sdtype": "categorical"}) for c in columns}}
    texts = {c["name"]: str for c in columns if c["type"] not in tables.NUMBERS}
    frames = [pd.read_csv(f, dtype=texts, na_values=["?"]) for f in (a.real, a.synthetic)]
    for c in columns:
        if c["type"] == "datetime":
            for f in frames:
                f[c["name"]] = pd.to_datetime(f[c["name"]])
    report = QualityReport()
    report.generate(*frames, meta, verbose=False)
    print("sdmetrics", report.get_score())


if __name__ == "__main__":
    main()
