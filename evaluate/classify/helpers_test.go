package classify_test

import (
	"testing"
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
