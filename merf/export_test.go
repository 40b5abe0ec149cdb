package merf

import "github.com/seed7ba64551/privgen/rff"

// KernelOf returns the kernel of an embedding.
func KernelOf(e *Embedding) rff.EmbeddingKernel { return e.config.Kernel }
