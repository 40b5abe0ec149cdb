package dpgm

import (
	"encoding/json"
	"errors"
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

// fileHeader describes a released model without the parameters of its networks.
type fileHeader struct {
	Schema records.Schema `json:"schema"`
	rff.SavedMap
	Clusters *kmeans.Model   `json:"clusters,omitempty"`
	Model    json.RawMessage `json:"model"`
	Networks int             `json:"networks"`
	// Tilts has, for each network, the list of shifts of a record's logits.
	Tilts []tilt `json:"tilts,omitempty"`
	// Targets says that the file has a target for each network. Files of earlier versions have none.
	Targets bool `json:"targets,omitempty"`
}

// Encode returns a file that contains the released state and nothing else.
//
// Errors: *param.Error for the zero value; all errors of [models.MarshalArchitecture].
func (m *Model) Encode() (*synth.File, error) {
	if m.known().router == nil {
		return nil, errNoModel()
	}
	arch, err := models.MarshalArchitecture(m.arch)
	if err != nil {
		return nil, err
	}
	h := fileHeader{Schema: m.schema, SavedMap: rff.SaveMap(m.router.features),
		Clusters: m.router.clusters, Model: arch, Networks: len(m.nets), Tilts: m.tilts,
		Targets: m.targets != nil}
	var parts []synth.Part
	for i, net := range m.nets {
		parts = append(parts, netParts(i, m.backend, net)...)
		if m.targets != nil {
			parts = append(parts, m.targets[i].part(i))
		}
	}
	return synth.NewFile(h, parts...)
}

// netParts returns the file's parts for a network: its parameters and its other state.
func netParts(i int, be device.Backend, net models.Density) []synth.Part {
	return append([]synth.Part{network.MatrixPart(paramsOf(i), be, net.Params().Flat)},
		stateParts(i, net)...)
}

// stateParts returns the file's parts for a network's state other than its parameters, if it has
// such state.
func stateParts(i int, net models.Density) []synth.Part {
	if s, ok := net.(models.Stateful); ok {
		return []synth.Part{synth.StatePart(stateOf(i), s)}
	}
	return nil
}

func paramsOf(i int) string { return fmt.Sprintf("network %d parameters", i) }
func stateOf(i int) string  { return fmt.Sprintf("network %d state", i) }

// readModel rebuilds a released model. It checks the sizes in the header against the number of
// bytes in the file before it allocates memory.
//
// Errors: synth.ErrFormat for a file that Encode cannot have written.
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
	if err := network.CheckFeatures(l.Limits, h.Map()); err != nil {
		return nil, err
	}
	m := &Model{schema: h.Schema, arch: arch, backend: l.Backend}
	if m.router, err = h.router(); err != nil {
		return nil, err
	}
	if want := len(m.router.weights()); h.Networks != want {
		return nil, synth.Malformed(fmt.Errorf("%d networks for %d clusters; want one for each",
			h.Networks, want))
	}
	if m.tilts, err = h.tilts(); err != nil {
		return nil, err
	}
	if h.Targets && m.tilts == nil {
		return nil, synth.Malformed(errors.New("targets without lists of shifts; want both or neither"))
	}
	for i := range h.Networks {
		net, err := m.readNet(f, l.Limits, i, h.Networks)
		if err != nil {
			return nil, err
		}
		m.nets = append(m.nets, net)
		if !h.Targets {
			continue
		}
		t, err := readTarget(f, m.schema, i)
		if err != nil {
			return nil, err
		}
		m.targets = append(m.targets, t)
	}
	return m, nil
}

// tilts returns the lists of shifts after checking them. There must be no lists or one list for
// each network.
func (h fileHeader) tilts() ([]tilt, error) {
	if len(h.Tilts) == 0 {
		return nil, nil // an empty list means no shifts
	}
	if len(h.Tilts) != h.Networks {
		return nil, synth.Malformed(fmt.Errorf("lists of shifts for %d of %d networks; want all or none",
			len(h.Tilts), h.Networks))
	}
	for _, t := range h.Tilts {
		for _, v := range t {
			if math.Abs(v) > tiltReach {
				return nil, synth.Malformed(fmt.Errorf("a shift is %v; want at most %v in absolute value", v,
					tiltReach))
			}
		}
	}
	return h.Tilts, nil
}

// router rebuilds the router and checks that schema, features and centres fit each other.
func (h fileHeader) router() (*router, error) {
	if err := h.Schema.Validate(); err != nil {
		return nil, synth.Malformed(err)
	}
	if h.Clusters == nil {
		return &router{}, nil
	}
	r := &router{features: kmeans.Raw(h.Schema), clusters: h.Clusters}
	if f := h.Map(); f != nil {
		if f.In() != h.Schema.Dim() {
			return nil,
				synth.Malformed(fmt.Errorf("features are for records of %d coordinates; the schema has %d",
					f.In(), h.Schema.Dim()))
		}
		r.features = f
	}
	if got, want := len(h.Clusters.Centers[0]), r.features.Dim(); got != want {
		return nil, synth.Malformed(fmt.Errorf("centres have %d coordinates; the feature space has %d",
			got, want))
	}
	return r, nil
}

func (m *Model) readNet(f *synth.File, l records.Limits, i, n int) (models.Density, error) {
	data, err := f.Section(paramsOf(i))
	if err != nil {
		return nil, err
	}
	if err := checkSize(m.arch, visible(m.schema), len(data), f, i, l, n); err != nil {
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
	i int, l records.Limits, n int) error {
	s, ok := a.(sizer)
	if !ok {
		return nil // a user-defined architecture, which the caller gave to Load
	}
	params, state := s.Size(v)
	if params > math.MaxInt32 || params*4 != int64(bytes) {
		return synth.Malformed(fmt.Errorf("%d bytes for %d parameters; want 4 bytes for each", bytes,
			params))
	}
	if state == 0 {
		return nil
	}
	data, err := f.Section(stateOf(i))
	if err != nil {
		return err
	}
	// The file has a bit for each visible unit. Hidden units are computed from them.
	more := min(max(state-8*int64(len(data)), 0), math.MaxInt64>>20) * int64(n)
	return synth.Malformed(l.CheckParameters("a sample", max(more, sweepNumbers(machine(a), v.Dim))))
}
