package rff

import (
	"encoding/json"
	"fmt"

	"github.com/seed7ba64551/privgen/internal/param"
)

// MarshalEmbedding writes the description of one of this package's embeddings, tagged with its
// name.
//
// Errors: an error for a kernel of another package.
func MarshalEmbedding(k EmbeddingKernel) ([]byte, error) {
	name := embeddingName(k)
	if name == "" {
		return nil, fmt.Errorf("rff.MarshalEmbedding: an embedding of type %T cannot be written: want "+
			"a kernel of package rff", k)
	}
	params, err := json.Marshal(k)
	if err != nil {
		return nil, fmt.Errorf("rff: %w", err)
	}
	return json.Marshal(tagged{name, params})
}

func embeddingName(k EmbeddingKernel) string {
	switch k := k.(type) {
	case Sum:
		return "sum"
	case Pairs:
		return "pairs"
	case Patches:
		return "patches"
	case Kernel:
		return kernelName(k)
	}
	return ""
}

// UnmarshalEmbedding reads a description that [MarshalEmbedding] wrote. Errors: [ErrFormat].
func UnmarshalEmbedding(data []byte) (EmbeddingKernel, error) {
	var t tagged
	if err := param.Decode(data, &t); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrFormat, err)
	}
	switch t.Kernel {
	case "sum":
		return decodeParams[Sum](t.Params)
	case "pairs":
		return decodeParams[Pairs](t.Params)
	case "patches":
		return decodeParams[Patches](t.Params)
	}
	k, err := unmarshalKernel(data)
	if err != nil {
		return nil, err
	}
	return k.(EmbeddingKernel), nil // every kernel of this package implements it
}

type sumFile struct {
	Numbers json.RawMessage `json:"numbers"`
}

// MarshalJSON writes the kernel of the numbers, tagged with its name.
func (c Sum) MarshalJSON() ([]byte, error) {
	numbers, err := marshalKernel(c.Numbers)
	if err != nil {
		return nil, err
	}
	return json.Marshal(sumFile{numbers})
}

// UnmarshalJSON reads a kernel that MarshalJSON wrote. Errors: [ErrFormat].
func (c *Sum) UnmarshalJSON(data []byte) error {
	var f sumFile
	if err := param.Decode(data, &f); err != nil {
		return fmt.Errorf("%w: %v", ErrFormat, err)
	}
	k, err := unmarshalKernel(f.Numbers)
	c.Numbers = k
	return err
}
