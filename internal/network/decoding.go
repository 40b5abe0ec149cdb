package network

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// Heads returns the output heads of a generator of encoded records: values are in [0,1], and the
// values of a one-hot block add up to 1.
func Heads(s records.Schema) []models.Head {
	blocks := s.Blocks()
	if blocks == nil {
		return []models.Head{{Width: s.Dim(), Out: models.SigmoidHead}}
	}
	var list []models.Head
	for _, b := range blocks {
		h := models.Head{Width: b.Width, Out: models.SigmoidHead}
		if b.OneHot {
			h.Out = models.SoftmaxHead
		}
		list = append(list, h)
	}
	return list
}

// Decodings returns the user-defined architectures that describe generators.
func Decodings(l synth.Loading) (list []models.GeneratorArchitecture) {
	for _, a := range l.Architectures {
		if d, ok := a.(models.GeneratorArchitecture); ok {
			list = append(list, d)
		}
	}
	return append(list, l.Decodings...)
}

// NewGenerator builds a generator of records of a schema. path names the architecture in errors.
// Sizes are checked before memory is allocated. If the backend is nil, the network is only checked:
// see Checking.
//
// Errors: *param.Error values, joined.
func NewGenerator(path string, be device.Backend, a models.GeneratorArchitecture, latent int,
	s records.Schema, seed uint64) (models.Generator, error) {
	if sizer, ok := a.(models.GeneratorSizer); ok {
		size := func() int64 { params, _ := sizer.GeneratorSize(latent, Heads(s)); return params }
		if err := CheckSize(path, a, size); err != nil {
			return nil, err
		}
	}
	if be == nil {
		be = Checking(a)
	}
	net, err := a.NewGenerator(be, latent, Heads(s), seed)
	if err != nil {
		return nil, err
	}
	var k param.Checker
	k.OK(net.Dim() == s.Dim(), path, net.Dim(),
		fmt.Sprintf("a network with the %d outputs of a record", s.Dim()))
	k.OK(net.Latent() == latent, path, net.Latent(),
		fmt.Sprintf("a network with the %d inputs of a code", latent))
	return net, k.Err()
}

// Checking returns the backend for a network that is only checked. For an architecture of package
// models it has shapes without numbers: a schema of 64 bytes can describe a network of gigabytes.
func Checking(a any) device.Backend {
	own := reflect.TypeFor[models.MLP]().PkgPath()
	if reflect.Indirect(reflect.ValueOf(a)).Type().PkgPath() == own {
		return shapes{device.CPU()}
	}
	return device.CPU()
}

// shapes is a backend without memory. Only networks of package models that are never used suit it.
type shapes struct{ device.Backend }

// ShapesOnly tells package models not to draw initial parameters.
func (shapes) ShapesOnly() {}

// New returns a matrix that is nowhere.
func (shapes) New(rows, cols int) device.Matrix {
	return device.Matrix{Rows: rows, Cols: cols, Stride: cols, Mem: nowhere{}}
}

// Upload does nothing.
func (shapes) Upload(device.Matrix, []float32) {}

// Fill does nothing.
func (shapes) Fill(device.Matrix, float32) {}

type nowhere struct{}

// Offset implements [device.Memory].
func (nowhere) Offset(int) device.Memory { return nowhere{} }

// CheckSize returns an error for an invalid architecture, and for an architecture whose networks
// are too large. It calls params for valid architectures only.
func CheckSize(path string, a any, params func() int64) error {
	if v, ok := a.(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			return err
		}
	}
	if n := params(); n > math.MaxInt32 {
		return &param.Error{Path: path, Value: n, Want: "a network of at most 2^31-1 parameters"}
	}
	return nil
}

// CheckNamed returns an error if a network that a saved plan names exceeds the limits for reading.
// It does not build the network. It ignores invalid architectures, because the errors of the plan
// describe their mistakes.
//
// Errors: synth.ErrFormat.
func CheckNamed(saved synth.SavedPlan, what string, a any, numbers func() int64) error {
	if saved.Schema.Validate() != nil {
		return nil
	}
	if v, ok := a.(interface{ Validate() error }); ok && v.Validate() != nil {
		return nil
	}
	return saved.Network(what, numbers())
}

// CheckNamedGenerators is CheckNamed for n generators of records of the plan's schema.
func CheckNamedGenerators(n int, saved synth.SavedPlan, a models.GeneratorArchitecture,
	latent int) error {
	return CheckNamed(saved, "the generator", a, func() int64 {
		sizer, ok := a.(models.GeneratorSizer)
		if !ok || latent < 1 {
			return 0
		}
		params, state := sizer.GeneratorSize(latent, Heads(saved.Schema))
		return max(params, params+state/4, imageNumbers(a, params)) * int64(n)
	})
}

// CheckFeatures returns an error if a feature map that a file describes has a table that exceeds
// the limits for reading. A few bytes describe the table, which is drawn when it is first used. Its
// numbers count a third: a network in training holds three for each parameter.
//
// Errors: synth.ErrFormat.
func CheckFeatures(l records.Limits, f any) error {
	if m, ok := f.(*rff.Map); ok {
		return synth.Malformed(l.CheckParameters("the feature map", int64(m.In())*int64(m.Dim())/3))
	}
	return nil
}

// pairNumbers is the cost of a pair of columns of [rff.Pairs], in parameters of a network.
const pairNumbers = 20

// MostTable is the size of the largest table of an embedding within the default limits for files.
const MostTable = 3 * leastLimit
const leastLimit = 5 << 20 // of parameters

// Unshared returns the limits for what the parts of a composition need one after another: they are
// not below the default, which a part's share of the limits may be.
func Unshared(l records.Limits) records.Limits {
	l.Parameters = max(l.Parameters, leastLimit)
	return l
}

// Values returns the limit of values, for inputs of at most 1 MiB.
func Values(l records.Limits) int64 { return cmp.Or(l.Values, 2<<20) }

type sharing struct{}

// Sharing returns the context of the fit of one of n models that a file holds together.
func Sharing(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, sharing{}, n*Sharers(ctx))
}

// Sharers returns the number of models that share the limits of the file of a fitted model.
func Sharers(ctx context.Context) int {
	n, _ := ctx.Value(sharing{}).(int)
	return max(n, 1)
}

// Embedding returns the embedding of a kernel, unless it exceeds the limits for reading: by pairs
// of columns, which are listed when the features are made, or by a table, as for CheckFeatures.
//
// Errors: synth.ErrFormat, with a *records.LimitError; all errors of the kernel.
func Embedding(l records.Limits, k rff.EmbeddingKernel, s records.Schema, in rff.Layout,
	seed uint64) (rff.Embedding, error) {
	if p, ok := k.(rff.Pairs); ok && p.Order != 1 {
		n := int64(cmp.Or(len(s.Blocks()), s.Dim()))
		err := l.CheckParameters("the list of pairs of columns", n*(n-1)/2*pairNumbers)
		if err != nil {
			return nil, synth.Malformed(err)
		}
	}
	e, err := k.Embedding(in, seed)
	if t, ok := e.(interface{ Table() int64 }); ok && err == nil {
		err = synth.Malformed(Unshared(l).CheckParameters("the table of features", t.Table()/3))
	}
	return e, err
}

const (
	sectionParams = "parameters"
	sectionState  = "state"
)

// Parts returns the parts of a file that hold a generator's parameters and state.
func Parts(be device.Backend, net models.Generator) []synth.Part { return PartsOf(0, be, net) }

// PartsOf is Parts for generator i of several generators, counted from 0.
func PartsOf(i int, be device.Backend, net models.Generator) []synth.Part {
	return []synth.Part{MatrixPart(Numbered(sectionParams, i), be, net.Params().Flat),
		synth.StatePart(Numbered(sectionState, i), net)}
}

// Numbered returns the name of a section of network i. Network 0 has the same name as a single
// network.
func Numbered(section string, i int) string {
	if i == 0 {
		return section
	}
	return fmt.Sprintf("%s %d", section, i+1)
}

// MatrixPart returns the part of a file that holds a matrix.
func MatrixPart(name string, be device.Backend, m device.Matrix) synth.Part {
	return synth.Part{Name: name,
		Save: func() ([]byte, error) {
			flat := make([]float32, m.Rows*m.Cols)
			be.Download(flat, m)
			return synth.FloatsPart(name, &flat, len(flat)).Save()
		},
		Load: func(data []byte) error {
			flat, err := synth.ReadFloats[float32](data, m.Rows*m.Cols)
			if err == nil {
				be.Upload(m, flat)
			}
			return err
		}}
}

// ReadNet builds generator i of n generators of records of a schema, counted from 0, from its Parts
// in a file. It compares the sizes of the architecture with the number of bytes in the file before
// it allocates memory.
//
// Errors: synth.ErrFormat.
func ReadNet(i, n int, f *synth.File, l synth.Loading, a models.GeneratorArchitecture,
	latent int, s records.Schema) (models.Generator, error) {
	data, err := f.Section(Numbered(sectionParams, i))
	if err != nil {
		return nil, err
	}
	state, err := f.Section(Numbered(sectionState, i))
	if err != nil {
		return nil, err
	}
	if sizer, ok := a.(models.GeneratorSizer); ok {
		params, bytes := sizer.GeneratorSize(latent, Heads(s))
		if params > math.MaxInt32 || params*4 != int64(len(data)) || bytes != int64(len(state)) {
			return nil, synth.Malformed(fmt.Errorf("%d bytes of parameters and %d bytes of state: "+
				"want %d parameters of 4 bytes and %d bytes of state",
				len(data), len(state), params, bytes))
		}
	}
	net, err := NewGenerator("generator", l.Backend, a, latent, s, 0)
	if err != nil {
		return nil, synth.Malformed(err)
	}
	numbers := int64(n) * imageNumbers(a, int64(len(data)/4))
	if err := l.Limits.CheckParameters("the images of the generator", numbers); err != nil {
		return nil, synth.Malformed(err)
	}
	return net, f.Load(PartsOf(i, l.Backend, net)...)
}

// imageNumbers returns the cost of a few images of a decoder, in parameters of a network. A few
// parameters describe images of any size. An image takes memory for every layer, and its patches
// for one layer at a time. Products that exceed 4096 for each parameter count too. The cost of a
// large file is in proportion to its size, see [Beyond].
func imageNumbers(arch models.GeneratorArchitecture, params int64) int64 {
	a, ok := arch.(models.ConvDecoder)
	if !ok {
		return 0
	}
	k := len(a.Maps)
	pixels, in := float64(a.Height>>k)*float64(a.Width>>k), float64(a.Maps[0])
	window := float64(a.Size) * float64(a.Size)
	layers, patches, products := pixels*in, 0.0, 0.0
	for _, out := range append(slices.Clone(a.Maps[1:]), a.Channels) {
		pixels *= 4
		layers += pixels * (in + 2*float64(out)) // before and after the convolution and its function
		patches = max(patches, pixels*window*min(in, float64(out)))
		products += max(pixels-4096, 0) * window * in * float64(out)
		in = float64(out)
	}
	return Beyond(3*(layers+pixels*in)+patches/2+products/128, params)
}

// Beyond returns a cost less what the numbers of a file of more than 1 MiB allow.
func Beyond(cost float64, params int64) int64 {
	return int64(min(cost, math.MaxInt64/128)) - 8*max(params-1<<18, 0)
}
