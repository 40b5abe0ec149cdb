"""Checks that other programs read the library's files to the same values, and the other way round.

    pip install -r requirements.txt && python check.py
"""
import calendar
import decimal
import json
import math
import os
import subprocess
import tempfile

import datasets
import duckdb
import numpy
import onnx
import onnxruntime
import pandas
import pyarrow
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet as parquet
import safetensors.numpy as safetensors
from PIL import Image

HERE = os.path.dirname(os.path.abspath(__file__))
BUILT = tempfile.TemporaryDirectory()
PROGRAM = os.path.join(BUILT.name, "formats")
subprocess.run(["go", "build", "-o", PROGRAM, "."], cwd=HERE, check=True)


def go(*arguments):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def plain(value):
    """The value, or None for a missing value in the notation of any program."""
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


NANOS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


def nanos(text):
    """Nanoseconds since 1970 of a time, or of the beginning of a day."""
    if text is None:
        return None
    date, _, clock = text.partition("T")
    year, month, day = map(int, date.split("-"))
    hour, minute, second = (clock.rstrip("Z") or "0:0:0").split(":")
    whole, _, fraction = second.partition(".")
    seconds = calendar.timegm((year, month, day, int(hour), int(minute), int(whole)))
    return seconds * 10**9 + int(fraction.ljust(9, "0") or 0)


def exactly(column):
    """The values of a column of pyarrow; times become whole numbers."""
    kind = column.type
    if pyarrow.types.is_date32(kind):
        days = column.cast(pyarrow.int32()).to_pylist()
        return [None if d is None else d * 86400 * 10**9 for d in days]
    if pyarrow.types.is_timestamp(kind) or pyarrow.types.is_duration(kind):
        ticks = [None if v is None else v * NANOS[kind.unit]
                 for v in column.cast(pyarrow.int64()).to_pylist()]
        if pyarrow.types.is_timestamp(kind):
            return ticks
        return [None if v is None else decimal.Decimal(v) / 10**9 for v in ticks]
    return column.to_pylist()


MOMENTS = ["day", "milli", "micro", "nano"]


def check_kinds(folder):
    """Compares numbers of 63 bits, times, durations, and names that are easily confused."""
    with open(f"{folder}/kinds.jsonl", encoding="utf-8") as file:
        lines = file.read().splitlines()
    want = [json.loads(line, parse_float=decimal.Decimal) for line in lines]
    columns = {key: [row[key] for row in want] for key in want[0]}
    columns["x"] = [None if v is None else float(v) for v in columns["x"]]
    for key in MOMENTS:
        columns[key] = [nanos(text) for text in columns[key]]

    def same(name, table):
        assert table.column_names == list(columns), f"{name}: {table.column_names}"
        table.validate(full=True)
        for key, right in columns.items():
            got = exactly(table[key])
            assert got == right, f"{name}: {key}, {table[key].type}: {got}, want {right}"
        print(f"{name}: {table.num_rows} rows of all kinds, every value the same")

    path = f"{folder}/kinds.parquet"
    same("pyarrow", parquet.read_table(path))
    with pyarrow.ipc.open_stream(f"{folder}/kinds.arrows") as stream:
        made = stream.read_all()
    same("pyarrow, a stream", made)
    same("pyarrow, a file", pyarrow.ipc.open_file(f"{folder}/kinds.arrow").read_all())
    same("pandas", pyarrow.Table.from_pandas(
        pandas.read_parquet(path, dtype_backend="pyarrow"), preserve_index=False))
    for name, source in [("duckdb", f"'{path}'"), ("duckdb, a stream", "made")]:
        asked = [f"epoch_ns({c})" if c == "nano" else f"1000::hugeint * epoch_us({c}::timestamp)"
                 if c in MOMENTS else c for c in columns]
        if source == "made":  # durations are intervals of microseconds in duckdb
            asked = [c for c in asked if c not in ("stay", "tick")]
        rows = duckdb.sql(f"select {', '.join(asked)} from {source}").fetchall()
        names = [c for c in columns if source != "made" or c not in ("stay", "tick")]
        for key, got in zip(names, zip(*rows)):
            assert [plain(v) for v in got] == columns[key], f"{name}: {key}: {got}"
        print(f"{name}: {len(rows)} rows of all kinds, every value the same")

    def read(name, path):
        back = go("-kinds", "-read", path).splitlines()
        for got, right in zip(back, lines, strict=True):
            assert got == right, f"{name}: {got}, want {right}"
        print(f"{name}: {len(back)} rows of all kinds, every value the same")

    plainly = made.set_column(made.column_names.index("grade"), "grade",
                              made["grade"].cast("string")) \
        .set_column(made.column_names.index("name"), "name", made["name"].cast("string"))
    # Parquet has no durations: whole nanoseconds and milliseconds are written as decimals
    stays = {"stay": pyarrow.decimal128(18, 3), "tick": pyarrow.decimal128(18, 9)}
    decimals = plainly
    for key, kind in stays.items():
        decimals = decimals.set_column(decimals.column_names.index(key), key,
                                       pyarrow.array(columns[key], kind))
    naive = decimals
    for key in ["milli", "micro", "nano"]:
        kind = pyarrow.timestamp(decimals[key].type.unit)
        naive = naive.set_column(naive.column_names.index(key), key, decimals[key].cast(kind))
    for name, table in [("decimals", decimals), ("moments without a zone", naive)]:
        parquet.write_table(table, f"{folder}/back.parquet", row_group_size=3)
        read(f"written by pyarrow, {name}", f"{folder}/back.parquet")
        with pyarrow.ipc.new_file(f"{folder}/back.arrow", table.schema) as out:
            out.write_table(table, max_chunksize=3)
        read(f"back.arrow written by pyarrow, {name}", f"{folder}/back.arrow")
    with pyarrow.ipc.new_stream(f"{folder}/back.arrows", plainly.schema) as out:
        out.write_table(plainly, max_chunksize=3)
    read("back.arrows written by pyarrow, lengths of time", f"{folder}/back.arrows")
    duckdb.sql(f"copy (select * from '{path}') to '{folder}/back.parquet' (format parquet)")
    read("written by duckdb", f"{folder}/back.parquet")
    pandas.read_parquet(path, dtype_backend="pyarrow").to_parquet(f"{folder}/back.parquet")
    read("written by pandas", f"{folder}/back.parquet")


with tempfile.TemporaryDirectory() as folder:
    go("-write", folder)
    check_kinds(folder)
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

    # Arrow: streams and files
    with open(f"{folder}/table.jsonl", encoding="utf-8") as file:
        want = [json.loads(line) for line in file]
    with pyarrow.ipc.open_stream(f"{folder}/table.arrows") as stream:
        streamed = stream.read_all()
    streamed.validate(full=True)
    assert pyarrow.types.is_dictionary(streamed.schema.field("town").type)
    compare("pyarrow, a stream", streamed.to_pylist(), want)
    compare("pyarrow, a file", pyarrow.ipc.open_file(f"{folder}/table.arrow").read_all().to_pylist(),
            want)
    frame = pandas.read_feather(f"{folder}/table.arrow", dtype_backend="numpy_nullable")
    compare("pandas, a file", frame.to_dict("records"), want)
    cursor = duckdb.sql("select * from streamed")
    names = [column[0] for column in cursor.description]
    compare("duckdb, a stream", [dict(zip(names, row)) for row in cursor.fetchall()], want)
    plainly = pyarrow.Table.from_pylist(want)
    wide = plainly.cast(pyarrow.schema([("x", pyarrow.float64()), ("n", pyarrow.int64()),
                                        ("town", pyarrow.large_string()),
                                        ("well", pyarrow.string_view())]))
    coded = plainly.set_column(2, "town", plainly["town"].dictionary_encode()) \
        .set_column(3, "well", plainly["well"].cast(pyarrow.dictionary(pyarrow.int8(), "string")))
    for name, made in [("plain", plainly), ("wide", wide), ("dictionaries", coded)]:
        for codec in [None, "lz4", "zstd"]:
            options = pyarrow.ipc.IpcWriteOptions(compression=codec)
            with pyarrow.ipc.new_stream(f"{folder}/back.arrows", made.schema, options=options) as out:
                out.write_table(made, max_chunksize=3)
            with pyarrow.ipc.new_file(f"{folder}/back.arrow", made.schema, options=options) as out:
                out.write_table(made, max_chunksize=3)
            for path in ["back.arrows", "back.arrow"]:
                back = [json.loads(l) for l in go("-read", f"{folder}/{path}").splitlines()]
                compare(f"{path} written by pyarrow, {name}, {codec}", back, want)
    pandas.DataFrame(want).astype({"n": "Int64", "town": "category"}) \
        .to_feather(f"{folder}/back.arrow")
    compare("back.arrow written by pandas",
            [json.loads(l) for l in go("-read", f"{folder}/back.arrow").splitlines()], want)

    # a folder in the layout of the Hugging Face hub
    shards = sorted(os.listdir(f"{folder}/dataset/data"))
    assert shards == [f"train-0000{i}-of-00003.parquet" for i in range(3)], shards
    compare("pyarrow, a folder",
            pyarrow.dataset.dataset(f"{folder}/dataset/data").to_table().to_pylist(), want)
    loaded = datasets.load_dataset(f"{folder}/dataset", cache_dir=f"{folder}/cache")
    compare("datasets, a folder", loaded["train"].to_list(), want)

    # images
    def levels(row):
        return numpy.array(row[1:], "u1")

    def printed(path):
        return [[int(v) for v in line.strip("[]").split()]
                for line in go("-pictures", path).splitlines()]

    rows = printed(f"{folder}/pictures")
    assert [row[0] for row in rows] == [0, 0, 0, 1], rows
    for i, row in enumerate(rows):
        with Image.open(f"{folder}/pictures/{['cat', 'a dog'][row[0]]}/{i:06}.png") as picture:
            assert picture.size == (7, 5) and picture.mode in ["RGB", "RGBA"], picture
            pixels = numpy.asarray(picture.convert("RGB"))
        made = (7 * (105 * i + numpy.arange(105))).astype("u1")
        assert numpy.array_equal(pixels.ravel(), made) and numpy.array_equal(levels(row), made)
    print("Pillow: every pixel of every PNG file the same")
    generator = numpy.random.default_rng(1)
    for mode, options in [("RGB", {}), ("L", {}), ("P", {}), ("RGB", {"format": "jpeg"})]:
        for name in ["cat", "a dog"]:
            for old in os.listdir(f"{folder}/pictures/{name}"):
                os.remove(f"{folder}/pictures/{name}/{old}")
            ramp = numpy.linspace(0, 255, 105).reshape(5, 7, 3)
            raw = generator.integers(0, 256, (5, 7, 3)) if not options else ramp
            picture = Image.fromarray(raw.astype("u1"), "RGB").convert(mode)
            if options:
                picture.save(f"{folder}/pictures/{name}/0.jpg", quality=100, subsampling=0)
            else:
                picture.save(f"{folder}/pictures/{name}/0.png")
        rows = printed(f"{folder}/pictures")
        for row, name in zip(rows, ["cat", "a dog"]):
            path = f"{folder}/pictures/{name}/0.{'jpg' if options else 'png'}"
            with Image.open(path) as picture:
                right = numpy.asarray(picture.convert("RGB")).ravel().astype(int)
            off = numpy.max(numpy.abs(levels(row).astype(int) - right))
            assert off <= (2 if options else 0), f"{path}, {mode}: off by {off}"
        print(f"written by Pillow, {mode} {options}: pixels the same"
              + (" to 2 of 256 levels, as decoders of JPEG round" if options else ""))
    raw = numpy.fromfile(f"{folder}/cifar.bin", "u1").reshape(-1, 3073)
    made = (7 * numpy.arange(3 * 3072)).astype("u1").reshape(3, 32, 32, 3)
    assert list(raw[:, 0]) == [0, 4, 9], raw[:, 0]
    assert numpy.array_equal(raw[:, 1:].reshape(3, 3, 32, 32).transpose(0, 2, 3, 1), made)
    random = generator.integers(0, 256, (5, 3073)).astype("u1")
    random[:, 0] %= 10
    random.tofile(f"{folder}/back.bin")
    rows = printed(f"{folder}/back.bin")
    assert [row[0] for row in rows] == list(random[:, 0])
    for row, right in zip(rows, random):
        assert numpy.array_equal(levels(row), right[1:].reshape(3, 32, 32).transpose(1, 2, 0).ravel())
    print("numpy: every pixel of CIFAR's files the same, both ways")

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
