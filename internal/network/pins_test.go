package network

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/pins"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// TestPins holds networks' records of every kind, and what is known of them, to the bits that they
// had.
func TestPins(t *testing.T) {
	table, err := records.NewSchema(records.Numeric("x", -1, 3).WithMissing(),
		records.Integer("n", 0, 40), records.Categorical("c", "p", "q", "r").WithMissing(),
		records.Flag("f", "no", "yes"), records.Ordinal("o", "s", "m", "l"),
		records.Numeric("l", 0, 900).Logarithmic(), records.Label("class", "a", "b", "c"))
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]records.Schema{"table": table, "bits": records.Binary(6),
		"numbers": records.Interval(5, -2, 3).WithLabels("a", "b", "c"), "sets": records.Sets(9, 3),
		"grey": records.Image(4, 4), "colour": records.RGBImage(4, 4),
		"black": records.BinaryImage(3, 4).WithLabels("a", "b", "c")} {
		for kind, a := range map[string]models.GeneratorArchitecture{
			"mlp": models.MLP{Hidden: []int{5}, BatchNorm: true},
			"convolutions": models.ConvDecoder{Height: 4, Width: 4, Channels: max(s.Channels(), 1),
				Hidden: []int{6}, Maps: []int{4, 2}, Size: 3}} {
			for _, networks := range []int{1, 3} {
				t.Run(fmt.Sprint(name, " ", kind, " ", networks), func(t *testing.T) {
					pinNetworks(t, s, a, networks)
				})
			}
		}
	}
}

func pinNetworks(t *testing.T, s records.Schema, a models.GeneratorArchitecture, networks int) {
	t.Helper()
	be, codes := device.CPU(), Codes{Backend: device.CPU(), Latent: 3, Classes: s.Classes()}
	m := Maker{Codes: codes}
	if s.Classes() > 0 {
		m.Choice = NewChoice([]float64{1, 3, 0.5}[:s.Classes()])
	}
	parts := map[string][]byte{"schema": fmt.Append(nil, Heads(s), TableBlocks(s), UnitOf(s),
		UnitOf(s).Moves(), CheckSize("x", a, func() int64 { return 1 << 40 }))}
	for i := range networks {
		net, err := NewGenerator("path", be, a, codes.Width(), s, uint64(i))
		if err != nil {
			pins.Check(t, map[string][]byte{"error": []byte(err.Error())})
			return
		}
		if m.Others = append(m.Others, net); i == 0 {
			m.Net, m.Others = net, nil
		}
		var file []any
		for _, p := range PartsOf(i, be, net) {
			file = append(file, p)
		}
		parts[fmt.Sprint("net", i)] = fmt.Append(nil, len(file), Numbered("net", i),
			net.Params().Flat.Data)
		f, err := synth.NewFile(nil, PartsOf(i, be, net)...)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ReadNet(i, networks, f, synth.Loading{Backend: be}, a, codes.Width(), s)
		if err != nil || !slices.Equal(again.Params().Flat.Data, net.Params().Flat.Data) {
			t.Errorf("network %d was read as another: %v", i, err)
		}
		parts[fmt.Sprint("size", i)] = fmt.Append(nil, imageNumbers(a, 500),
			Beyond(1e6*float64(i), 3), CheckNamedGenerators(i, synth.SavedPlan{Schema: s}, a, 3))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	labels, flat := m.State(rng, -1, 20)
	parts["state"] = fmt.Append(nil, labels, flat)
	for _, means := range []bool{false, true} {
		for class := -1; class < s.Classes(); class += 2 {
			next := m.Sampler(s, synth.Draw{Class: class, Means: means}, rng)
			var rows []byte
			for _, n := range []int{7, 1, 12} {
				d, err := next.Next(n)
				if err != nil {
					t.Fatal(err)
				}
				var b device.Batch
				d.Range(0, n, &b)
				rows = fmt.Append(rows, b.Dense.Data, b.Labels, b.Sparse)
			}
			parts[fmt.Sprintf("rows%d%t", class, means)] = rows
		}
	}
	values := slices.Clone(flat[:4])
	UnitOf(s).Stretch(values)
	text := fmt.Append(nil, values)
	UnitOf(s).Shrink(values)
	parts["unit"] = fmt.Append(text, values)
	if !s.Sparse() && s.Kind() != records.MixedTable {
		parts["digest"] = fmt.Append(nil, MeansOf(s))
	}
	data, err := Records(rng, s, true, slices.Clone(flat), labelsOf(s, labels))
	if err != nil {
		t.Fatal(err)
	}
	parts["public"] = []byte(Digest(records.DeclarePublic(data)))
	if s.Kind() == records.MixedTable {
		err := EachNonzeros(t.Context(), data, 6, func(lo int, z *records.Nonzeros) {
			parts["nonzeros"] = fmt.Append(parts["nonzeros"], lo, z.Places, z.Values, z.Labels)
		})
		parts["nonzeros"] = fmt.Append(parts["nonzeros"], err)
	}
	err = EachBatch(t.Context(), data, 6, func(lo int, b device.Batch) {
		parts["batches"] = fmt.Append(parts["batches"], lo, b.Dense.Data, b.Labels, b.Sparse)
	})
	parts["batches"] = fmt.Append(parts["batches"], err)
	pins.Check(t, parts)
}

func labelsOf(s records.Schema, labels []int32) []int32 {
	if s.Classes() == 0 {
		return nil
	}
	return labels
}
