"""Asks pyarrow, pandas and duckdb whether the library's files hold what it says, and the other way.

    pip install -r requirements.txt && python check.py
"""
import json
import math
import os
import subprocess
import tempfile

import duckdb
import numpy
import onnx
import onnxruntime
import pandas
import pyarrow
import pyarrow.parquet as parquet
import safetensors.numpy as safetensors

HERE = os.path.dirname(os.path.abspath(__file__))


def go(*arguments):
    return subprocess.run(["go", "run", ".", *arguments], cwd=HERE, check=True,
                          capture_output=True, text=True).stdout


def plain(value):
    """None for a missing value, whatever a program calls it."""
    if value is None or isinstance(value, float) and math.isnan(value) or value is pandas.NA:
        return None
    return value


def compare(name, rows, want):
    assert len(rows) == len(want), f"{name}: {len(rows)} rows of {len(want)}"
    for i, (row, right) in enumerate(zip(rows, want)):
        assert list(row) == list(right), f"{name}: columns {list(row)}"
        for key in right:
            assert plain(row[key]) == right[key], f"{name}: row {i}, {key}: {row[key]!r}"
    print(f"{name}: {len(rows)} rows, every value the same")


with tempfile.TemporaryDirectory() as folder:
    go("-write", folder)
    with open(f"{folder}/table.jsonl", encoding="utf-8") as file:
        want = [json.loads(line) for line in file]
    path = f"{folder}/table.parquet"
    compare("pyarrow", parquet.read_table(path).to_pylist(), want)
    compare("pandas", pandas.read_parquet(path, dtype_backend="numpy_nullable")
            .to_dict("records"), want)
    cursor = duckdb.sql(f"select * from '{path}'")
    names = [column[0] for column in cursor.description]
    compare("duckdb", [dict(zip(names, row)) for row in cursor.fetchall()], want)

    made = pyarrow.Table.from_pylist(want)
    for codec in ["none", "snappy", "gzip", "brotli", "zstd"]:
        for version in ["1.0", "2.0"]:
            for dictionary in [False, True]:
                parquet.write_table(made, path, compression=codec, data_page_version=version,
                                    use_dictionary=dictionary, row_group_size=3)
                back = [json.loads(line) for line in go("-read", path).splitlines()]
                compare(f"written by pyarrow, {codec}, pages {version}, dictionary {dictionary}",
                        back, want)
    duckdb.sql("create table t as select * from made")
    duckdb.sql(f"copy t to '{path}' (format parquet)")
    compare("written by duckdb", [json.loads(l) for l in go("-read", path).splitlines()], want)
    pandas.DataFrame(want).astype({"n": "Int64"}).to_parquet(path)
    compare("written by pandas", [json.loads(l) for l in go("-read", path).splitlines()], want)

    want = {"0.weight": numpy.exp(3.0 * numpy.arange(6) - 10).astype("f4").reshape(3, 2),
            "0.bias": numpy.exp(3.0 * numpy.arange(6, 8) - 10).astype("f4")}
    for name, got in [("safetensors", safetensors.load_file(f"{folder}/net.safetensors")),
                      ("numpy", numpy.load(f"{folder}/net.npz"))]:
        assert sorted(got.keys()) == sorted(want), f"{name}: {list(got.keys())}"
        for key, right in want.items():
            assert got[key].dtype == numpy.float32 and numpy.array_equal(got[key], right), name
        print(f"{name}: every parameter the same")
    expected = go("-weights", f"{folder}/net.safetensors")
    safetensors.save_file(want, f"{folder}/back.safetensors")
    numpy.savez_compressed(f"{folder}/back.npz", **want)
    numpy.savez(f"{folder}/wide.npz", **{k: v.astype(">f8") for k, v in want.items()})
    for name in ["back.safetensors", "back.npz", "wide.npz"]:
        assert go("-weights", f"{folder}/{name}") == expected, name
        print(f"{name}, written in Python: every parameter the same")

    go("-networks", folder)
    for name in sorted(n for n in os.listdir(folder) if n.endswith(".onnx")):
        onnx.checker.check_model(f"{folder}/{name}", full_check=True)
        with open(f"{folder}/{name[:-5]}.json", encoding="utf-8") as file:
            asked = json.load(file)
        session = onnxruntime.InferenceSession(f"{folder}/{name}", providers=["CPUExecutionProvider"])
        rows = numpy.array(asked["Input"], "f4")
        want = numpy.array(asked["Output"], "f4")
        got, = session.run(None, {"input": rows})
        one, = session.run(None, {"input": rows[:1]})
        off = max(numpy.max(numpy.abs(got - want) / numpy.maximum(1, numpy.abs(want))),
                  numpy.max(numpy.abs(one - want[:1]) / numpy.maximum(1, numpy.abs(want[:1]))))
        assert got.shape == want.shape and off <= 1e-5, f"{asked['Name']}: off by {off}"
        print(f"onnxruntime: {asked['Name']}: {want.size} numbers, off by at most {off:.1e}")
