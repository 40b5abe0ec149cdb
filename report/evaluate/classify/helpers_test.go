package classify_test

import (
	"testing"

	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
)

func second[T any](_ T, err error) error { return err }

func must[T any](v T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// tested trains a classifier on some records and tests it on others.
func tested(t testing.TB, m classify.Method, train, test records.Data) classify.Classification {
	t.Helper()
	return must(classify.Test(must(m.Fit(train))(t), test))(t)
}
