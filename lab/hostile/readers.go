package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"math"
	"strings"
	"testing/fstest"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/connect/arrow"
	"github.com/seed7ba64551/privgen/connect/images"
	"github.com/seed7ba64551/privgen/connect/parquet"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/draft"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
)

// readers returns all readers. Checkpoints are written to the scratch folder.
func readers(ctx context.Context, scratch string) ([]reader, error) {
	list, err := recordReaders()
	if err != nil {
		return nil, err
	}
	documents, err := documentReaders()
	if err != nil {
		return nil, err
	}
	systems, err := systemReaders(ctx, scratch)
	return append(append(list, documents...), systems...), err
}

// second returns the error of a call with a result.
func second[T any](_ T, err error) error { return err }

// look reads and checks records and formats them.
func look(d records.Data, err error) error {
	if err != nil {
		return err
	}
	var b device.Batch
	d.Range(0, min(d.Len(), 1000), &b)
	_ = fmt.Sprintf("%v %+v", d, d)
	_ = records.Check(d) // an invalid record is not an error of its reader
	return nil
}

// schemas returns one schema of each form of records.
func schemas() (vectors, images, sets, table records.Schema, err error) {
	table, err = records.NewSchema(records.Numeric("age", 17, 90).WithMissing(),
		records.Integer("n", 0, 5), records.Categorical("work", "a", "b", "c").WithAlias("a", "A"),
		records.Ordinal("rank", "low", "mid", "high"), records.Flag("old", "no", "yes"),
		records.Label("y", "<=50K", ">50K"))
	if err != nil {
		return vectors, images, sets, table, err
	}
	table = table.WithConstraints(records.Determines([]string{"work", "old"}, []string{"a", "no"}),
		records.Within("age", 18, nil).OrMissing(), records.Ascending("n", "age"))
	return records.Interval(3, -1, 2).WithLabels("a", "b"), records.Image(3, 2), records.Sets(40, 6),
		table, err
}

// times returns the schema of a table with times, durations, identifiers and hashed values.
func times() (records.Schema, error) {
	from := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	s, err := records.NewSchema(records.Identifier("id", records.Pattern("C-###")),
		records.Datetime("at", from, from.AddDate(1, 0, 0), time.Second).WithMissing().
			WithParts(records.MonthPart|records.HourPart),
		records.Duration("stay", -time.Hour, time.Hour, time.Millisecond),
		records.Integer("account", 0, math.MaxInt>>3), records.Hashed("drug", 8, "aspirin"))
	if err != nil {
		return s, err
	}
	return s.WithConstraints(records.Unique("at"), records.Only("drug", "aspirin", "bucket-1"),
		records.Within("at", from.AddDate(0, 1, 0), nil).Repaired(),
		records.Combinations([]string{"account", "stay"}, []string{"5", "0.5"}).Repaired()), nil
}

const (
	timeLines = "at,stay,account,drug\n2024-02-29T01:02:03Z,0.5,5,aspirin\n" +
		"2024-05-06 07:08:09.5+02:00,1h30m,1152921504606846975,x\n,,,\n1709209801,-1,0,bucket-3\n"
	timeObjects = "{\"id\":1,\"at\":\"2024-02-29\",\"stay\":-0.25,\"account\":7,\"drug\":null}\n" +
		"{\"at\":1709209801,\"stay\":\"1m\",\"account\":9007199254740993,\"drug\":5}\n"
	vectorLines = "0.5,1,-1,a\n2,0,nan,b\n\"0.25\",1e-3,-0,a\n,,,\n"
	tableLines  = "age,n,work,rank,old,y\n39,2,a,low,no,<=50K\n,9,zz,mid,yes,>50K\n" +
		"\"17\",0,\"A\",high,no,<=50K\n"
	visitLines = "user,item\nu1,3\nu2,4 5\n\"u1\",7\nu3,39\n"
	basketRows = "1 2 3\n\n4 39\n-1,5;6\n"
)

// recordReaders returns the readers of packages records and draft.
func recordReaders() ([]reader, error) {
	vectors, images, sets, table, err := schemas()
	if err != nil {
		return nil, err
	}
	text := func(lines ...string) (list [][]byte) {
		for _, l := range lines {
			list = append(list, []byte(l), []byte(strings.Repeat(l, 30)))
		}
		return list
	}
	clocks, err := times()
	if err != nil {
		return nil, err
	}
	from := bytes.NewReader
	csv := func(b []byte) error { return look(records.CSV{}.Read(from(b), vectors)) }
	frame := func(b []byte) error { return look(records.CSV{Header: true}.ReadFrame(from(b), table)) }
	visits := func(b []byte) error {
		return look(records.Visits{Header: true, User: "user", Item: "item"}.Read(from(b), sets))
	}
	list := []reader{
		{"csv", text(vectorLines), anyBytes, csv},
		{"csv, packed", text(vectorLines), packed, csv},
		{"frame", text(tableLines), anyBytes, frame},
		{"frame, packed", text(tableLines), packed, frame},
		{"frame of times", text(timeLines), anyBytes, func(b []byte) error {
			return look(records.CSV{Header: true}.ReadFrame(from(b), clocks))
		}},
		{"objects of times", text(timeObjects), anyBytes, func(b []byte) error {
			return look(records.JSONLines{}.ReadFrame(from(b), clocks))
		}},
		{"frames", text(tableLines), anyBytes, func(b []byte) error {
			for _, err := range (records.CSV{Header: true}).Stream(from(b), table, 100) {
				if err != nil {
					return err
				}
			}
			return nil
		}},
		{"lines", text(tableLines, visitLines), anyBytes, func(b []byte) error {
			for _, err := range (records.CSV{}).Lines(from(b)) {
				if err != nil {
					return err
				}
			}
			return nil
		}},
		{"visits", text(visitLines), anyBytes, visits},
		{"visits, packed", text(visitLines), packed, visits},
		{"transactions", text(basketRows), anyBytes, func(b []byte) error {
			return look(records.ReadTransactions(from(b), sets))
		}},
		{"stream of transactions", text(basketRows), anyBytes, func(b []byte) error {
			for _, err := range records.StreamTransactions(from(b), sets, 100) {
				if err != nil {
					return err
				}
			}
			return nil
		}},
		{"draft of public rows", text(tableLines), anyBytes, func(b []byte) error {
			return second(draft.FromPublic(from(b), records.CSV{Header: true}, draft.Public{}))
		}},
	}
	binary, err1 := binaryReaders(vectors, images)
	columnar, err2 := columnarReaders(table)
	return append(append(list, binary...), columnar...), errors.Join(err1, err2)
}

// columnarReaders returns the readers of the modules parquet and arrow.
func columnarReaders(s records.Schema) ([]reader, error) {
	f, err := records.CSV{Header: true}.ReadFrame(strings.NewReader(tableLines), s)
	if err != nil {
		return nil, err
	}
	var flat, stream, file bytes.Buffer
	if err := errors.Join(parquet.WriteFrame(&flat, f),
		arrow.WriteFrame(&stream, arrow.StreamLayout, f),
		arrow.WriteFrame(&file, arrow.FileLayout, f)); err != nil {
		return nil, err
	}
	return []reader{
		{"parquet", [][]byte{flat.Bytes()}, anyBytes, func(b []byte) error {
			return look(parquet.ReadFrame(bytes.NewReader(b), int64(len(b)), s))
		}},
		{"arrow", [][]byte{stream.Bytes(), file.Bytes()}, anyBytes, func(b []byte) error {
			return look(arrow.ReadFrame(bytes.NewReader(b), s))
		}},
	}, nil
}

// binaryReaders returns the readers of arrays and images.
func binaryReaders(vectors, grey records.Schema) ([]reader, error) {
	pixels, err1 := records.FromBytes(grey, []byte{0, 1, 2, 255, 128, 127, 3, 9, 0, 0, 0, 0})
	table, err2 := records.FromFlat(vectors, []float32{0.5, 1, -1, 2, 0, 0}, 0, 1)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	var idx, labels, npy, npz, cifar bytes.Buffer
	colours, err := records.FromBytes(images.CIFAR10Schema(), make([]byte, 2*3*32*32), 3, 9)
	if err != nil {
		return nil, err
	}
	pictures, err := pictureFiles(colours)
	if err != nil {
		return nil, err
	}
	labelled, err := records.FromFlat(grey.WithLabels("a", "b"), make([]float32, 12), 0, 1)
	if err := errors.Join(err, records.WriteIDX(&idx, nil, pixels),
		records.WriteIDX(io.Discard, &labels, labelled), records.WriteNPY(&npy, table),
		records.WriteNPZ(&npz, table),
		images.WriteCIFAR(&cifar, colours)); err != nil {
		return nil, err
	}
	one := func(b *bytes.Buffer) [][]byte { return [][]byte{b.Bytes()} }
	from := bytes.NewReader
	return []reader{
		{"idx", one(&idx), anyBytes, func(b []byte) error {
			return look(records.ReadIDX(from(b), nil, grey))
		}},
		{"idx, packed", one(&idx), packed, func(b []byte) error {
			return look(records.ReadIDX(from(b), nil, grey))
		}},
		{"labels of idx", one(&labels), anyBytes, func(b []byte) error {
			return look(records.ReadIDX(from(idx.Bytes()), from(b), grey.WithLabels("a", "b")))
		}},
		{"cifar", one(&cifar), anyBytes, func(b []byte) error {
			return look(images.ReadCIFAR(from(b), colours.Schema()))
		}},
		{"cifar, packed", one(&cifar), packed, func(b []byte) error {
			return look(images.ReadCIFAR(from(b), colours.Schema()))
		}},
		{"folder of images", pictures, anyBytes, func(b []byte) error {
			folder := fstest.MapFS{"a.png": {Data: b}, "b.jpg": {Data: b}}
			return look(images.ReadFolder(folder, colours.Schema().WithoutLabels()))
		}},
		{"npy", one(&npy), anyBytes, func(b []byte) error {
			return look(records.ReadNPY(from(b), records.Interval(3, -1, 2)))
		}},
		{"npz", one(&npz), anyBytes, func(b []byte) error {
			return look(records.ReadNPZ(from(b), int64(len(b)), vectors))
		}},
	}, nil
}

// pictureFiles returns a PNG and a JPEG file of a picture with the table's size.
func pictureFiles(t *records.Table) ([][]byte, error) {
	picture := image.NewNRGBA(image.Rect(0, 0, t.Schema().Width(), t.Schema().Height()))
	for i := range picture.Pix {
		picture.Pix[i] = uint8(i * 7)
	}
	var flat, lossy bytes.Buffer
	err := errors.Join(png.Encode(&flat, picture), jpeg.Encode(&lossy, picture, nil))
	return [][]byte{flat.Bytes(), lossy.Bytes()}, err
}

// documentReaders returns the readers of JSON documents, except for most plans.
func documentReaders() ([]reader, error) {
	vectors, images, sets, table, err := schemas()
	if err != nil {
		return nil, err
	}
	clocks, err := times()
	if err != nil {
		return nil, err
	}
	paid, events, err := books()
	if err != nil {
		return nil, err
	}
	clusters := kmeans.Model{Centers: [][]float32{{1, 2}, {3, 4}},
		Counts: []float64{1, 3}, ClipNorm: 1}
	fourier, err := rff.RBF{Dim: 6, Bandwidth: 1}.New(3, 1)
	if err != nil {
		return nil, err
	}
	drafts, err := draft.Config{Candidates: table, Budget: paid.Budget()}.Plan()
	if err != nil {
		return nil, err
	}
	kernels, err := kernelDocuments()
	if err != nil {
		return nil, err
	}
	density := func(a models.DensityArchitecture) json.RawMessage {
		text, _ := models.MarshalArchitecture(a)
		return text
	}
	maker := func(a models.GeneratorArchitecture) json.RawMessage {
		text, _ := models.MarshalArchitecture(a)
		return text
	}
	critic := func(a models.CriticArchitecture) json.RawMessage {
		text, _ := models.MarshalArchitecture(a)
		return text
	}
	train := sgd.Config{ClipNorm: 1, SamplingProbability: 0.1, Steps: 10, NoiseMultiplier: 1,
		Optimizer: sgd.Adam(1e-3)}
	type form struct {
		name  string
		sound []any
		read  func([]byte) error
	}
	var list []reader
	for _, f := range []form{
		{"schema", []any{vectors, images, sets, table, clocks}, func(b []byte) error {
			return second(records.ReadSchema(bytes.NewReader(b)))
		}},
		{"ledger", []any{paid}, func(b []byte) error {
			l, err := ledger.Unmarshal(b)
			if err != nil {
				return err
			}
			_ = l.Guarantee().String()
			return second(json.Marshal(l))
		}},
		{"guarantee", []any{paid.Guarantee()}, func(b []byte) error {
			var g ledger.Guarantee
			err := json.Unmarshal(b, &g)
			_ = g.String()
			return err
		}},
		{"event", events, func(b []byte) error {
			e, err := accountant.UnmarshalEvent(b)
			if err != nil {
				return err
			}
			_ = accountant.Describe(e)
			return second(accountant.MarshalEvent(e))
		}},
		{"plan: draft", []any{drafts}, func(b []byte) error {
			var p draft.Plan
			if err := json.Unmarshal(b, &p); err != nil {
				return err
			}
			_ = p.String()
			return second(json.Marshal(&p))
		}},
		{"clusters", []any{clusters}, unmarshal[kmeans.Model]},
		{"random features", []any{fourier}, unmarshal[rff.Map]},
		{"kernel", kernels, func(b []byte) error {
			k, err := rff.UnmarshalEmbedding(b)
			if err != nil {
				return err
			}
			return second(k.Embedding(rff.Layout{In: 6, Height: 2, Width: 3}, 1))
		}},
		{"density", []any{density(models.VAE{Hidden: []int{4}, Latent: 2}), density(models.RBM{Hidden: 4,
			Chains: 3})}, func(b []byte) error { return second(models.UnmarshalDensity(b)) }},
		{"generator network",
			[]any{maker(models.MLP{Hidden: []int{4, 5}}), maker(models.Generator28(32, 16))},
			func(b []byte) error { return second(models.UnmarshalGenerator(b)) }},
		{"critic", []any{critic(models.MLP{Hidden: []int{4, 5}})},
			func(b []byte) error { return second(models.UnmarshalCritic(b)) }},
		{"training", []any{train}, unmarshal[sgd.Config]},
		{"training against a release", []any{merf.GeneratorConfig{Steps: 3}},
			unmarshal[merf.GeneratorConfig]},
	} {
		r := reader{name: f.name, change: anyDocument, read: f.read}
		for _, v := range f.sound {
			text, err := json.Marshal(v)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f.name, err)
			}
			if err := f.read(text); err != nil {
				return nil, fmt.Errorf("%s: a valid input is refused: %w", f.name, err)
			}
			r.sound = append(r.sound, text)
		}
		list = append(list, r)
	}
	return list, nil
}

// unmarshal decodes a value and encodes it again.
func unmarshal[T any](b []byte) error {
	var v T
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	return second(json.Marshal(&v))
}

// books returns a ledger with events and children, and the events.
func books() (*ledger.Ledger, []any, error) {
	l := ledger.New(accountant.Budget{Epsilon: 50, Delta: 1e-5})
	var texts []any
	var wrong error
	for i, e := range []accountant.Event{accountant.Gaussian{NoiseMultiplier: 3},
		accountant.PoissonSampled{Probability: 0.01, Event: accountant.Gaussian{NoiseMultiplier: 2}},
		accountant.Laplace{Scale: 20}, accountant.Pure{Epsilon: 0.1},
		accountant.Repeated{Event: accountant.ExponentialMechanism{Epsilon: 0.01}, Count: 5},
		accountant.Composed{Events: []accountant.Event{accountant.Gaussian{NoiseMultiplier: 9},
			accountant.DiscreteGaussian{Sigma: 9, Sensitivity: 1}}}} {
		text, err := accountant.MarshalEvent(e)
		wrong = errors.Join(wrong, err)
		texts = append(texts, json.RawMessage(text))
		_, err = l.Reserve(fmt.Sprint("stage ", i), e, 1+i)
		wrong = errors.Join(wrong, err)
	}
	parts, err := l.Disjoint(ledger.Parts{Purpose: "classes", N: 2})
	if err == nil {
		err = parts[0].Spend("counts", accountant.Gaussian{NoiseMultiplier: 5})
	}
	return l, texts, errors.Join(wrong, err)
}

// kernelDocuments returns one document for each kind of kernel.
func kernelDocuments() (list []any, err error) {
	plain := rff.RBF{Dim: 6, Bandwidth: 1}
	for _, k := range []rff.EmbeddingKernel{plain, rff.Scales{Dim: 6, Low: 0.5, High: 2},
		rff.Patches{Dim: 6, Windows: []float64{0.5}, Blur: 1, Low: 1, High: 2}} {
		text, err := rff.MarshalEmbedding(k)
		if err != nil {
			return nil, err
		}
		list = append(list, json.RawMessage(text))
	}
	return list, nil
}
