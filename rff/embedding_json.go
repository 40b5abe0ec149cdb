package rff

import (
	"encoding/json"
	"fmt"
)

// MarshalEmbedding writes the description of one of this package's embeddings,
// tagged with its name. A [Custom] kernel holds a function and cannot be
// written.
func MarshalEmbedding(k EmbeddingKernel) ([]byte, error) {
	name := embeddingName(k)
	if name == "" {
		return nil, fmt.Errorf("rff: an embedding of type %T cannot be written", k)
	}
	params, err := json.Marshal(k)
	if err != nil {
		return nil, fmt.Errorf("rff: %w", err)
	}
	return json.Marshal(tagged{name, params})
}

func embeddingName(k EmbeddingKernel) string {
	if kernel, ok := k.(Kernel); ok {
		return kernelName(kernel)
	}
	return ""
}

// UnmarshalEmbedding reads what [MarshalEmbedding] wrote. Errors: [ErrFormat].
func UnmarshalEmbedding(data []byte) (EmbeddingKernel, error) {
	k, err := UnmarshalKernel(data)
	if err != nil {
		return nil, err
	}
	e, ok := k.(EmbeddingKernel)
	if !ok {
		return nil, fmt.Errorf("%w: a kernel of type %T is no embedding", ErrFormat, k)
	}
	return e, nil
}
