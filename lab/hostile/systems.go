package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/dpgm"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sets"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/tables"
)

// A subject is a plan with records to carry it out on.
type subject struct {
	name string
	plan synth.Plan
	data records.Data
}

// subjects returns plans of every system that run in milliseconds.
func subjects() (list []subject, err error) {
	sets, err1 := records.FromItems(records.Sets(12, 4),
		[][]uint32{{1, 2}, {3}, {2, 5, 7}, {11}, {1, 2},
			nil, {0, 4}, {6, 8}, {9, 10}, {1}, {2, 3}, {5}})
	flat := make([]float32, 12*4)
	for i := range flat {
		flat[i] = float32(i*37%48) / 48
	}
	numbers, err2 := records.FromFlat(records.Interval(4, 0, 1).WithLabels("a", "b"), flat,
		0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	ofSets, err1 := subjectsOf("sets", sets)
	ofNumbers, err2 := subjectsOf("numbers", numbers)
	ofTables, err3 := tableSubjects()
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	labelled, err1 := labellingSubjects(numbers, ofTables[0].data)
	changed, err2 := augmentSubjects(numbers)
	ranked, err3 := rankSubjects(ofTables[0].data)
	pooled, err4 := poolSubjects(ofTables[0].data)
	opened, err5 := levelSubjects()
	return slices.Concat(ofSets, ofNumbers, ofTables, labelled, changed, ranked, pooled, opened),
		errors.Join(err1, err2, err3, err4, err5)
}

// tableSubjects returns plans of the systems that accept only tables.
func tableSubjects() (list []subject, err error) {
	s, err := records.NewSchema(records.Integer("age", 0, 9), records.Flag("f", "no", "yes"),
		records.Categorical("town", "a", "b", "c").WithMissing(), records.Label("class", "u", "v"))
	if err != nil {
		return nil, err
	}
	data, err := records.FromValues(s, []any{1, "no", "a", "u"}, []any{2, "yes", "b", "v"},
		[]any{7, "no", nil, "u"}, []any{9, "yes", "a", "v"}, []any{2, "no", "c", "u"})
	if err != nil {
		return nil, err
	}
	common := tables.Common{Schema: s, Budget: accountant.Budget{Epsilon: 3, Delta: 1e-5}, Bins: 4}
	aim, err1 := tables.AIM{Common: common, Rounds: 3, Coarse: 2}.Plan()
	mst, err2 := tables.MST{Common: common}.Plan()
	return []subject{{"aim of tables", aim, data}, {"mst of tables", mst, data}},
		errors.Join(err1, err2)
}

func subjectsOf(kind string, data records.Data) (list []subject, err error) {
	s, b := data.Schema(), accountant.Budget{Epsilon: 3, Delta: 1e-5}
	train := sgd.Config{ClipNorm: 1, SamplingProbability: 0.5, Steps: 6, Optimizer: sgd.Adam(1e-2)}
	quick := merf.GeneratorConfig{Architecture: models.MLP{Hidden: []int{4}, BatchNorm: true},
		Steps: 3,
		Batch: 8, Latent: 2}
	common := sets.Common{Schema: s, Budget: b}
	add := func(name string, p synth.Plan, err2 error) {
		if err2 != nil {
			err = errors.Join(err, fmt.Errorf("%s of %s: %w", name, kind, err2))
			return
		}
		list = append(list, subject{name + " of " + kind, p, data})
	}
	one, e := dpgm.Config{Schema: s, Budget: b, Cluster: kmeans.Config{K: 1}, Train: train,
		Average: 0.9,
		Model:   models.VAE{Hidden: []int{4}, Latent: 2}}.Plan()
	add("dpgm", one, e)
	clusters := dpgm.Config{Schema: s, Budget: b, Model: models.VAE{Hidden: []int{4}, Latent: 2},
		Cluster: kmeans.Config{K: 2, Iterations: 3, Share: 0.2}, Train: train}
	if s.IsBinary() {
		clusters.Marginals = &dpgm.Marginals{Share: 0.3}
		machines := clusters
		machines.Marginals, machines.Model = nil, models.RBM{Hidden: 5, Chains: 4, SampleSweeps: 3}
		machines.Cluster.Memory, machines.Train.NominalBatch = 0.5, 4
		chains, e := machines.Plan()
		add("dpgm of machines", chains, e)
	} else {
		clusters.Features = rff.RBF{Dim: 8, Bandwidth: 2}
	}
	many, e := clusters.Plan()
	add("dpgm with clusters", many, e)
	embedding, e := merf.Config{Schema: s, Budget: b, Kernel: rff.RBF{Dim: 12, Bandwidth: 1},
		Generator: quick}.Plan()
	add("merf", embedding, e)
	several := quick
	several.Generators = 2
	ensemble, e := merf.Config{Schema: s, Budget: b, Kernel: rff.RBF{Dim: 12, Bandwidth: 1},
		Generator: several}.Plan()
	add("merf by two networks", ensemble, e)
	batches, e := merf.Config{Schema: s, Budget: b, Kernel: rff.RBF{Dim: 12, Bandwidth: 1},
		Generator: quick, Batches: merf.Batches{Probability: 0.3, Steps: 5}}.Plan()
	add("merf by batches", batches, e)
	if s.Kind() != records.MixedTable {
		critic, e := gan.Config{Schema: s, Budget: b, Latent: 2, GeneratorBatch: 6, CriticSteps: 2,
			Train:     train,
			Critic:    models.MLP{Hidden: []int{4}},
			Generator: models.MLP{Hidden: []int{4}, BatchNorm: true}}.Plan()
		add("gan", critic, e)
	}
	if s.Classes() > 1 {
		mixtures, e := mix.Config{Schema: s, Budget: b, Mixtures: 40, ClipNorm: 2,
			Sampling: mix.Poisson{Nominal: 12, Degree: 3}}.Plan()
		add("mix", mixtures, e)
		apart, e := mix.Config{Schema: s, Budget: b, Mixtures: 40, ClipNorm: 2, ByClass: true,
			Sampling: mix.Poisson{Nominal: 12, Degree: 3},
			Centers:  mix.Centers{Share: 0.3, ClipNorm: 1}}.Plan()
		add("mix by class", apart, e)
	} else {
		mwem, e := sets.MWEM{Common: common, Rounds: 3, Queries: 20, Domain: 50}.Plan()
		add("mwem", mwem, e)
		items, e := sets.Independent{Common: common}.Plan()
		add("independent", items, e)
	}
	return list, err
}

// systemReaders returns the readers of plans, generators, embeddings and checkpoints.
func systemReaders(ctx context.Context, scratch string) (list []reader, err error) {
	all, err := subjects()
	if err != nil {
		return nil, err
	}
	alone, err := plansAlone()
	if err != nil {
		return nil, err
	}
	for _, s := range alone {
		plan, err := json.Marshal(s.plan)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		list = append(list, reader{"plan: " + s.name, [][]byte{plan}, anyDocument, readPlan})
	}
	for _, s := range all {
		plan, err := json.Marshal(s.plan)
		if err != nil {
			return nil, err
		}
		gen, err := s.plan.Fit(ctx, s.data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		var file bytes.Buffer
		if err := gen.Save(&file); err != nil {
			return nil, err
		}
		kept, err := checkpoints(ctx, s, scratch)
		if err != nil {
			return nil, err
		}
		list = append(list, reader{"plan: " + s.name, [][]byte{plan}, anyDocument, readPlan},
			reader{"generator: " + s.name, [][]byte{file.Bytes()}, anyFile, load},
			reader{"checkpoint: " + s.name, kept, anyFile, resume(s, scratch)})
		if p, ok := s.plan.(*merf.Plan); ok && p.Config.Batches.Steps == 0 {
			e, err := p.Embed(ctx, ledger.New(p.Budget()), s.data)
			if err != nil {
				return nil, err
			}
			var file bytes.Buffer
			if err := e.Save(&file); err != nil {
				return nil, err
			}
			list = append(list, reader{"embedding: " + s.name, [][]byte{file.Bytes()}, anyFile,
				func(b []byte) error { return second(merf.LoadEmbedding(bytes.NewReader(b))) }})
		}
	}
	return list, nil
}

// readPlan reads a plan, formats it and encodes it again.
func readPlan(b []byte) error {
	p, err := privgen.ReadPlan(b)
	if err != nil {
		return err
	}
	_ = p.String()
	return second(json.Marshal(p))
}

// load reads a generator and draws from it.
func load(b []byte) error {
	g, err := privgen.Load(bytes.NewReader(b))
	if err != nil {
		return err
	}
	_ = g.String() + g.Guarantee().String()
	return look(g.Sample(context.Background(), 3, privgen.Seed(1)))
}

// checkpoints returns checkpoints of runs that were interrupted at their first progress reports,
// and of a complete run.
func checkpoints(ctx context.Context, s subject, scratch string) (list [][]byte, err error) {
	path := filepath.Join(scratch, "sound")
	for stop := range 7 {
		if err := os.RemoveAll(path); err != nil {
			return nil, err
		}
		ctx, cancel := context.WithCancel(ctx)
		seen := 0
		_, err := s.plan.Fit(ctx, s.data, privgen.CheckpointEvery(path, 1),
			privgen.OnProgress(func(privgen.Progress) {
				if seen++; seen == stop {
					cancel()
				}
			}))
		cancel()
		var interrupted *privgen.Interrupted
		if err != nil && !errors.As(err, &interrupted) {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, nil
}

// resume returns a function that resumes a run from a checkpoint.
func resume(s subject, scratch string) func([]byte) error {
	var number atomic.Int64
	return func(b []byte) error {
		path := filepath.Join(scratch, fmt.Sprint("checkpoint", number.Add(1)))
		defer os.Remove(path)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			return err
		}
		g, err := s.plan.Fit(context.Background(), s.data, privgen.Checkpoint(path))
		if err != nil {
			return err
		}
		return look(g.Sample(context.Background(), 3, privgen.Seed(1)))
	}
}
