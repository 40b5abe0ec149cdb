package store_test

import (
	"sync"
	"testing"

	"github.com/seed7ba64551/privgen/store"
	"github.com/seed7ba64551/privgen/store/storetest"
)

func TestMemoryContract(t *testing.T) {
	var mu sync.Mutex
	places := map[string]store.Backend{}
	storetest.Run(t, storetest.Subject{
		Place: func(t *testing.T) string {
			mu.Lock()
			defer mu.Unlock()
			places[t.Name()] = store.Memory()
			return t.Name()
		},
		Open: func(place string) (store.Backend, error) {
			mu.Lock()
			defer mu.Unlock()
			return places[place], nil
		},
	})
}
