package store_test

import (
	"testing"

	"github.com/seed7ba64551/privgen/store"
	"github.com/seed7ba64551/privgen/store/storetest"
)

func folders() storetest.Subject {
	return storetest.Subject{
		Place: func(t *testing.T) string { return t.TempDir() },
		Open:  func(place string) (store.Backend, error) { return store.Dir(place), nil },
	}
}

func TestDirContract(t *testing.T) { storetest.Run(t, folders()) }
