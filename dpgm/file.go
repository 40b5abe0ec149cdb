package dpgm

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// fileHeader is a released model without its numbers.
type fileHeader struct {
	Schema   records.Schema `json:"schema"`
	Features *rff.Map       `json:"features,omitempty"`
	Strokes  *rff.StrokeMap `json:"strokes,omitempty"`
	// Scattering is set if the features are those of rff.Scattering.
	Scattering *rff.ScatteringMap `json:"scattering,omitempty"`
	Clusters   *kmeans.Model      `json:"clusters,omitempty"`
	Model      json.RawMessage    `json:"model"`
	Networks   int                `json:"networks"`
	// Tilts are shifts of a record's logits, one list for each network.
	Tilts []tilt `json:"tilts,omitempty"`
}

// Encode returns a file of the released state, and nothing else.
//
// Errors: *param.Error for the zero value; those of [models.MarshalDensity].
func (m *Model) Encode() (*synth.File, error) {
	if m.known().router == nil {
		return nil, errNoModel()
	}
	arch, err := models.MarshalDensity(m.arch)
	if err != nil {
		return nil, err
	}
	h := fileHeader{Schema: m.schema, Clusters: m.router.clusters, Model: arch,
		Networks: len(m.nets), Tilts: m.tilts}
	switch f := m.router.features.(type) {
	case *rff.Map:
		h.Features = f
	case *rff.StrokeMap:
		h.Strokes = f
	case *rff.ScatteringMap:
		h.Scattering = f
	}
	var parts []synth.Part
	for i, net := range m.nets {
		parts = append(parts, netParts(i, m.backend, net)...)
	}
	return synth.NewFile(h, parts...)
}

// netParts returns a network's numbers.
func netParts(i int, be device.Backend, net models.Density) []synth.Part {
	return append([]synth.Part{network.MatrixPart(paramsOf(i), be, net.Params().Flat)},
		stateParts(i, net)...)
}

// stateParts returns a network's state other than its parameters, if any.
func stateParts(i int, net models.Density) []synth.Part {
	if s, ok := net.(models.Stateful); ok {
		return []synth.Part{synth.StatePart(stateOf(i), s)}
	}
	return nil
}

func paramsOf(i int) string { return fmt.Sprintf("network %d parameters", i) }
func stateOf(i int) string  { return fmt.Sprintf("network %d state", i) }

// readModel rebuilds a released model. Sizes in the header are checked against the bytes
// present before anything is allocated for them.
//
// Errors: synth.ErrFormat for anything that Encode does not write.
func readModel(f *synth.File, l synth.Loading) (synth.Model, error) {
	var h fileHeader
	if err := f.Decode(&h); err != nil {
		return nil, err
	}
	arch, err := models.UnmarshalDensity(h.Model, l.Architectures...)
	if err != nil {
		return nil, synth.Malformed(err)
	}
	if err := checkSweeps(arch); err != nil {
		return nil, synth.Malformed(err)
	}
	m := &Model{schema: h.Schema, arch: arch, backend: l.Backend}
	if m.router, err = h.router(); err != nil {
		return nil, err
	}
	if want := len(m.router.weights()); h.Networks != want {
		return nil, synth.Malformed(fmt.Errorf("%d networks for %d clusters", h.Networks, want))
	}
	if m.tilts, err = h.tilts(); err != nil {
		return nil, err
	}
	for i := range h.Networks {
		net, err := m.readNet(f, i)
		if err != nil {
			return nil, err
		}
		m.nets = append(m.nets, net)
	}
	return m, nil
}

// tilts checks the shifts, one list for each network or none at all.
func (h fileHeader) tilts() ([]tilt, error) {
	if len(h.Tilts) == 0 {
		return nil, nil // an empty list means no shifts
	}
	if len(h.Tilts) != h.Networks {
		return nil, synth.Malformed(fmt.Errorf("shifts for %d of %d networks", len(h.Tilts), h.Networks))
	}
	for _, t := range h.Tilts {
		for _, v := range t {
			if math.Abs(v) > tiltReach {
				return nil, synth.Malformed(fmt.Errorf("a shift of %v: want at most %v in absolute value", v, tiltReach))
			}
		}
	}
	return h.Tilts, nil
}

// router rebuilds the clustering and checks that its pieces fit each other.
func (h fileHeader) router() (*router, error) {
	if err := h.Schema.Validate(); err != nil {
		return nil, synth.Malformed(err)
	}
	if h.Clusters == nil {
		return &router{}, nil
	}
	r := &router{features: kmeans.Raw(h.Schema), clusters: h.Clusters}
	if f := h.features(); f != nil {
		if f.In() != h.Schema.Dim() {
			return nil, synth.Malformed(fmt.Errorf("features of records with %d coordinates; the schema has %d", f.In(),
				h.Schema.Dim()))
		}
		r.features = f
	}
	if got, want := len(h.Clusters.Centers[0]), r.features.Dim(); got != want {
		return nil, synth.Malformed(fmt.Errorf("centres with %d coordinates; the feature space has %d", got, want))
	}
	return r, nil
}

// features returns the feature map in the file, or nil if there is none.
func (h fileHeader) features() rff.Features {
	switch {
	case h.Strokes != nil:
		return h.Strokes
	case h.Scattering != nil:
		return h.Scattering
	case h.Features != nil:
		return h.Features
	}
	return nil
}

func (m *Model) readNet(f *synth.File, i int) (models.Density, error) {
	data, err := f.Section(paramsOf(i))
	if err != nil {
		return nil, err
	}
	if err := checkSize(m.arch, visible(m.schema), len(data), f, i); err != nil {
		return nil, err
	}
	net, err := m.arch.New(m.backend, visible(m.schema), 0)
	if err != nil {
		return nil, synth.Malformed(err)
	}
	return net, f.Load(netParts(i, m.backend, net)...)
}

// checkSize returns an error if the architecture's networks are larger than the file.
func checkSize(a models.DensityArchitecture, v models.Visible, bytes int, f *synth.File,
	i int) error {
	s, ok := a.(models.DensitySizer)
	if !ok {
		return nil // a user-defined architecture, given to Load by the caller
	}
	params, state := s.Size(v)
	if params > math.MaxInt32 || params*4 != int64(bytes) {
		return synth.Malformed(fmt.Errorf("%d bytes for %d float32 parameters", bytes, params))
	}
	if state == 0 {
		return nil
	}
	data, err := f.Section(stateOf(i))
	if err != nil {
		return err
	}
	if state > int64(len(data))*64 { // one bit or more for each unit, and some room for other formats
		return synth.Malformed(fmt.Errorf("%d bytes of state for %d units", len(data), state))
	}
	return nil
}
