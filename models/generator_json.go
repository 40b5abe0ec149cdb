package models

// UnmarshalGenerator reads an architecture that [MarshalArchitecture] wrote. If others contains an
// architecture of the same name, that value is returned unchanged.
//
// Errors: ErrFormat for malformed JSON and unknown names; the errors of Validate for an invalid
// description.
func UnmarshalGenerator(data []byte,
	others ...GeneratorArchitecture) (GeneratorArchitecture, error) {
	return unmarshalTagged[GeneratorArchitecture](data, others, MLP{}, ConvDecoder{})
}

// A GeneratorSizer computes the size of its networks without building one, like VAE.Size.
type GeneratorSizer interface {
	// GeneratorSize returns the number of parameters and the number of bytes of public state. Both
	// saturate at math.MaxInt64.
	GeneratorSize(latent int, heads []Head) (params, state int64)
}

// GeneratorSize returns the size of all layers and their batch norm.
func (a MLP) GeneratorSize(latent int, heads []Head) (params, state int64) {
	return a.generator(latent, heads).done().sizes()
}

// GeneratorSize returns the size of all layers and their batch norm. The heads have no parameters.
func (a ConvDecoder) GeneratorSize(latent int, _ []Head) (params, state int64) {
	return a.sketch(latent).done().sizes()
}

// sizes returns the size of a generator.
func (g *graph) sizes() (params, state int64) {
	bytes := 0.0
	for _, b := range g.norms() {
		bytes += 8 + 8*float64(b.channels)
	}
	return g.size(), saturated(bytes)
}
