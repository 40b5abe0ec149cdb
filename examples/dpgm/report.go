package main

import (
	"context"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/records"
)

func report(ctx context.Context, c config, gen *privgen.Generator, train, test *records.Table) error {
	return nil
}
