package parquet_test

import (
	"bytes"
	"errors"
	"math"
	"math/big"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"github.com/seed7ba64551/privgen/records"
)

// twosComplement returns a number as size bytes in two's complement, most significant byte first.
func twosComplement(digits string, size int) []byte {
	x, _ := new(big.Int).SetString(digits, 10)
	if x.Sign() < 0 {
		x.Add(x, new(big.Int).Lsh(big.NewInt(1), uint(8*size)))
	}
	return x.FillBytes(make([]byte, size))
}

// TestDecimalsOfBytesAreRead reads decimals stored as bytes, as other programs write them: with one
// length for all values, or with a length for each value.
func TestDecimalsOfBytesAreRead(t *testing.T) {
	fixed := pq.FixedLenByteArrayType(16)
	group := pq.Group{"price": pq.Optional(pq.Decimal(2, 15, pq.FixedLenByteArrayType(7))),
		"stay": pq.Decimal(3, 38, pq.ByteArrayType), "key": pq.Decimal(0, 38, fixed),
		"name": pq.Decimal(20, 38, fixed)}
	rows := []pq.Row{
		{pq.FixedLenByteArrayValue(twosComplement("9007199254740993", 16)).Level(0, 0, 0),
			pq.FixedLenByteArrayValue(twosComplement("-12345678901234567890123", 16)).Level(0, 0, 1),
			pq.FixedLenByteArrayValue(twosComplement("-1999", 7)).Level(0, 1, 2),
			pq.ByteArrayValue(twosComplement("-1", 1)).Level(0, 0, 3)},
		{pq.FixedLenByteArrayValue(twosComplement("-170141183460469231731687303715884105728", 16)).
			Level(0, 0, 0), pq.FixedLenByteArrayValue(twosComplement("5", 16)).Level(0, 0, 1),
			pq.NullValue().Level(0, 0, 2), pq.ByteArrayValue(twosComplement("86400001", 5)).Level(0, 0, 3)},
		{pq.FixedLenByteArrayValue(twosComplement("170141183460469231731687303715884105727", 16)).
			Level(0, 0, 0), pq.FixedLenByteArrayValue(twosComplement("0", 16)).Level(0, 0, 1),
			pq.FixedLenByteArrayValue(twosComplement("9999999999999", 7)).Level(0, 1, 2),
			pq.ByteArrayValue(nil).Level(0, 0, 3)},
	}
	var file bytes.Buffer
	w := pq.NewWriter(&file, pq.NewSchema("t", group))
	if _, err := w.WriteRows(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s := must(records.NewSchema(records.Integer("key", -1<<60, 1<<60),
		records.Categorical("name", "-123.45678901234567890123", "0.00000000000000000005", "0"),
		records.Numeric("price", -1e12, 1e12).WithMissing(),
		records.Duration("stay", -1e12, 1e15, 1e6).WithMissing()))(t)
	f := must(read(file.Bytes(), s))(t)
	const want = `{"key":9007199254740993,"name":"-123.45678901234567890123","price":-19.99,` +
		`"stay":-0.001}` + "\n" +
		`{"key":-1152921504606846976,"name":"0.00000000000000000005","price":null,"stay":86400.001}` + "\n" +
		`{"key":1152921504606846976,"name":"0","price":99999999999.99,"stay":null}` + "\n"
	if got := cellsOf(f); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	f = must(read(file.Bytes(), must(records.NewSchema(records.Numeric("key", -1e38, 1e38)))(t)))(t)
	if x := f.Number(1, 0); x != -1e38 {
		t.Errorf("got %v for a value below the bound, want the bound", x)
	}
	f = must(read(file.Bytes(), must(records.NewSchema(records.Numeric("key", -2e38, 2e38)))(t)))(t)
	if x := f.Number(1, 0); x != -math.Pow(2, 127) {
		t.Errorf("-2^127 is read as %v", x)
	}
}

// TestDecimalsOfAnyScaleTakeNoMemory: the scale is a number in the file, and the text of a value
// could have that many digits.
func TestDecimalsOfAnyScaleTakeNoMemory(t *testing.T) {
	for _, scale := range []int{77, 1 << 30, -77, -1 << 30} {
		var file bytes.Buffer
		w := pq.NewWriter(&file, pq.NewSchema("t", pq.Group{"x": pq.Decimal(scale, 9, pq.Int64Type)}))
		if _, err := w.WriteRows([]pq.Row{{pq.Int64Value(7).Level(0, 0, 0)}}); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		s := must(records.NewSchema(records.Categorical("x", "7")))(t)
		if _, err := read(file.Bytes(), s); !errors.Is(err, records.ErrFormat) {
			t.Errorf("scale %d: got %v, want records.ErrFormat", scale, err)
		}
	}
}
