package merf_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// TestImagesOfASmallFileAreBounded: a file of 1.4 kB with images of 8192² pixels took 11 GB for its
// first three records. Large images, wide windows and many products are over the limits of files,
// which a caller can raise.
func TestImagesOfASmallFileAreBounded(t *testing.T) {
	of := func(side, size, channels, last int, maps ...int) models.ConvDecoder {
		if last > 0 {
			maps[len(maps)-1] = last
		}
		return models.ConvDecoder{Height: side, Width: side, Channels: channels, Maps: maps, Size: size,
			Output: device.Sigmoid}
	}
	for what, c := range map[string]struct {
		arch    models.ConvDecoder
		refused bool
	}{
		"the preset":      {models.Generator28(32, 16), false},
		"colours":         {of(64, 5, 3, 32, 128, 64, 0), false},
		"a photograph":    {of(512, 3, 1, 1, slices.Repeat([]int{1}, 9)...), false},
		"a large image":   {of(1024, 1, 1, 1, slices.Repeat([]int{1}, 10)...), true},
		"a huge image":    {of(8192, 2, 1, 1, slices.Repeat([]int{1}, 13)...), true},
		"wide windows":    {of(64, 200, 1, 0, 2), true},
		"many products":   {of(128, 9, 1, 56, 1, 1, 1, 1, 0), true},
		"a large network": {of(128, 5, 3, 64, 300, 0), false},
	} {
		s := records.Interval(c.arch.Height*c.arch.Width*c.arch.Channels, 0, 1)
		n, _ := c.arch.GeneratorSize(2, nil)
		f := &synth.File{Kind: "merf", Sections: []synth.Section{
			{Name: "parameters", Data: make([]byte, 4*n)}, {Name: "state"}}}
		arch, err := models.MarshalArchitecture(c.arch)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		schema, err := s.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		f.Header = fmt.Appendf(nil, `{"schema":%s,"generator":%s,"latent":2,"shares":[1]}`, schema, arch)
		if c.arch.BatchNorm {
			_, state := c.arch.GeneratorSize(2, nil)
			f.Sections[1].Data = make([]byte, state)
		}
		_, err = decoded(f)
		var limit *records.LimitError
		if errors.As(err, &limit) != c.refused || err != nil && !errors.Is(err, synth.ErrFormat) {
			t.Errorf("%s: %v", what, err)
		}
		_, err = merf.System().Model(f, synth.Loading{Backend: device.CPU(),
			Limits: records.Limits{Parameters: 1 << 40}})
		if err != nil {
			t.Errorf("%s within raised limits: %v", what, err)
		}
		p, err := merf.Config{Schema: s, Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5},
			Kernel:    rff.RBF{Dim: 2, Bandwidth: 1},
			Generator: merf.GeneratorConfig{Architecture: c.arch, Latent: 2}}.Plan()
		if what == "a huge image" { // no file may hold the features either
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		plan, err := json.Marshal(p)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		_, err = synth.Systems{merf.System()}.ReadPlan(plan)
		if errors.As(err, &limit) != c.refused && !strings.Contains(what, "large network") {
			t.Errorf("the plan of %s: %v", what, err)
		}
	}
}
