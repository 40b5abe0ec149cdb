package dpgm_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/dpgm"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// TestNetworksThatFailLaterEndTheRun: if the networks of a generator cannot be built, for a preview
// or at the end, the run ends with this error at once.
func TestNetworksThatFailLaterEndTheRun(t *testing.T) {
	for _, c := range []struct {
		stage           string
		at, every       int
		spent, previews int // steps of training that are drawn, and previews
	}{{dpgm.PurposeCluster, 2, 1, 0, 0}, {dpgm.PurposeTrain, 1, 1, 1, 1},
		{dpgm.PurposeTrain, 1, 1000, 3, 1}} {
		now := false
		config := small(records.Binary(12), accountant.AddOrRemoveOne)
		config.Model = broken{models.VAE{Hidden: []int{4}, Latent: 1}, &now}
		p, l := mustPlan(t, config), ledger.New(config.Budget)
		previews := 0
		g, err := p.FitOn(t.Context(), l, bits(t, 10, 12, 1),
			synth.OnPreview(c.every, func(int, *synth.Generator) { previews++ }),
			synth.OnProgress(func(at synth.Progress) {
				now = now || at.Stage == c.stage && at.Step == c.at
			}))
		if g != nil || err == nil || !strings.Contains(err.Error(), "no memory on the device") {
			t.Errorf("%+v: got a generator %v, error %v", c, g != nil, err)
		}
		if previews != c.previews {
			t.Errorf("%+v: %d previews", c, previews)
		}
		for _, e := range l.Entries() {
			if e.Purpose == dpgm.PurposeTrain && e.Spent != c.spent {
				t.Errorf("%+v: %d steps of training are drawn", c, e.Spent)
			}
		}
	}
}

// TestAClipNormThatCannotBeSavedEndsTheRun: if the checkpoint with the released clip norm cannot be
// written, the run ends with this error before it trains.
func TestAClipNormThatCannotBeSavedEndsTheRun(t *testing.T) {
	config := small(records.Binary(12), accountant.AddOrRemoveOne)
	config.Features, config.Cluster.Norm = nil, &kmeans.DPNorm{Max: 6, Bins: 6}
	dir := filepath.Join(t.TempDir(), "kept")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l, gone := ledger.New(config.Budget), false
	data := &watched{bits(t, 40, 12, 1), func() {
		if !gone {
			gone = true
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}
	}}
	trained := false
	g, err := mustPlan(t, config).FitOn(t.Context(), l, data,
		synth.Checkpoint(filepath.Join(dir, "run")),
		synth.OnProgress(func(at synth.Progress) { trained = trained || at.Stage == dpgm.PurposeTrain }))
	if g != nil || err == nil || trained || !gone {
		t.Errorf("a generator %v, error %v; trained: %v", g != nil, err, trained)
	}
}

// TestFilesOfNoModelAreRefused: each part of a file is checked, whatever the other parts hold.
func TestFilesOfNoModelAreRefused(t *testing.T) {
	told := small(records.Binary(12), accountant.AddOrRemoveOne)
	told.Cluster, told.Features = kmeans.Config{K: 1}, nil
	told.Marginals = &dpgm.Marginals{Share: 0.3}
	machine := small(records.Binary(12), accountant.AddOrRemoveOne)
	machine.Model = models.RBM{Hidden: 5, Chains: 4, SampleSweeps: 3}
	files := map[string]*synth.File{"told": written(t, told), "machine": written(t, machine)}
	earlier := *files["told"]
	earlier.Header = bytes.Replace(earlier.Header, []byte(`"targets":true`),
		[]byte(`"targets":false`), 1)
	files["earlier"] = &earlier
	for what, c := range map[string]struct {
		file, old, now string
	}{
		"as it is":          {"told", `^\{`, `{`},
		"a shift beyond":    {"told", `"tilts":\[\[[^,]*,`, `"tilts":[[4.5,`},
		"of earlier":        {"earlier", `^\{`, `{`},
		"earlier shifts":    {"earlier", `"tilts":\[\[[^,]*,`, `"tilts":[[4.5,`},
		"targets only":      {"told", `"tilts":\[\[[^\]]*\]\],?`, ``},
		"two lists":         {"told", `"tilts":\[`, `"tilts":[[0],`},
		"an unknown kind":   {"told", `"kind":"[a-z-]*"`, `"kind":"noises"`},
		"no coordinates":    {"told", `"dim":12`, `"dim":-1`},
		"machines":          {"machine", `^\{`, `{`},
		"slow machines":     {"machine", `"sample_sweeps":3`, `"sample_sweeps":65537`},
		"machines of none":  {"machine", `"hidden":5`, `"hidden":-5`},
		"another machine":   {"machine", `"chains":4`, `"chains":0`},
		"without a state":   {"machine", ``, ``},
		"without a network": {"machine", ``, ``},
	} {
		f := *files[c.file]
		f.Sections = slices.Clone(f.Sections)
		if at := map[string]string{"without a state": " state",
			"without a network": " parameters"}[what]; at != "" {
			f.Sections = slices.DeleteFunc(f.Sections, func(s synth.Section) bool {
				return s.Name == "network 1"+at
			})
		} else if old := regexp.MustCompile(c.old); old.Match(f.Header) {
			f.Header = old.ReplaceAll(f.Header, []byte(c.now))
		} else {
			t.Errorf("%s: the header is %s", what, f.Header)
		}
		if !json.Valid(f.Header) {
			t.Errorf("%s: the header is no JSON: %s", what, f.Header)
		}
		ok := bytes.Equal(f.Header, files[c.file].Header) && len(f.Sections) ==
			len(files[c.file].Sections)
		if _, err := read(&f); ok != (err == nil) || !ok && !errors.Is(err, synth.ErrFormat) {
			t.Errorf("%s: got %v", what, err)
		}
	}
}

// TestLayersOfEveryCluster: each cluster of a model has layers, other clusters and no model have
// none.
func TestLayersOfEveryCluster(t *testing.T) {
	m := fit(t, small(records.Binary(12), accountant.AddOrRemoveOne),
		bits(t, 40, 12, 1)).Model().(*dpgm.Model)
	for cluster, ok := range map[int]bool{-1: false, 0: true, 2: true, 3: false} {
		layers, err := m.Layers(cluster)
		if wrong := (*param.Error)(nil); (len(layers) > 0) != ok || !ok && !errors.As(err, &wrong) {
			t.Errorf("cluster %d: %d layers, %v", cluster, len(layers), err)
		}
	}
	for _, none := range []*dpgm.Model{nil, new(dpgm.Model)} {
		if _, err := none.Layers(0); err == nil {
			t.Error("no model has layers")
		}
		if n := none.Clusters(); n != 0 || none.Weights() != nil {
			t.Errorf("no model has %d clusters, weights %v", n, none.Weights())
		}
		dst := []int32{7, 7}
		if none.Assign(device.Batch{Rows: 2}, dst); !slices.Equal(dst, []int32{0, 0}) {
			t.Errorf("no model assigns records to %v", dst)
		}
	}
}
