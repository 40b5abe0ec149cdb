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
func MarshalEmbedding(k EmbeddingKernel) ([]byte, error) { return marshal(k) }

// UnmarshalEmbedding reads a description that [MarshalEmbedding] wrote. Errors: [ErrFormat].
func UnmarshalEmbedding(data []byte) (EmbeddingKernel, error) {
	return unmarshal[EmbeddingKernel](data)
}

type sumFile struct {
	Numbers json.RawMessage `json:"numbers"`
}

// MarshalJSON writes the kernel of the numbers, tagged with its name.
func (c Sum) MarshalJSON() ([]byte, error) {
	numbers, err := marshal(c.Numbers)
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
	k, err := unmarshal[Kernel](f.Numbers)
	c.Numbers = k
	return err
}
