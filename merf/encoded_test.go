package merf_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

// publicEncoder returns a random encoder that stands in for one trained on public records.
func publicEncoder(t *testing.T, in int, normalised bool) models.Generator {
	t.Helper()
	a := models.MLP{Hidden: []int{5}, Activation: models.Tanh, BatchNorm: normalised}
	n, err := a.NewGenerator(device.CPU(), in, []models.Head{{Width: 3, Out: models.SigmoidHead}}, 4)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestPublicEncoders checks that the sums of neighbouring data sets differ by no more than
// declared. It also trains a generator through the encoder.
func TestPublicEncoders(t *testing.T) {
	inner := []rff.EmbeddingKernel{rff.RBF{Dim: 8, Bandwidth: 1}, rff.Pairs{Knots: 3}}
	for _, s := range []records.Schema{table(t, records.Label("class", "a", "b")),
		records.Interval(5, -1, 1), records.Sets(20, 4)} {
		for i, r := range relations {
			c := small(s, r, merf.Encoded{Encoder: publicEncoder(t, s.Dim(), false), Kernel: inner[i]})
			plan := mustPlan(t, c)
			for _, pair := range privacytest.Neighbours(t, s, r, 8, 3)[:6] {
				privacytest.Replay[records.Data]{Run: everythingVisible(plan), Budget: c.Budget,
					Data: pair.Data, Neighbour: pair.Neighbour, Seeds: 1}.Check(t)
			}
		}
	}
}

// TestEncodedDerivative compares the derivative with difference quotients.
func TestEncodedDerivative(t *testing.T) {
	k := merf.Encoded{Encoder: publicEncoder(t, 4, false), Kernel: rff.RBF{Dim: 10, Bandwidth: 0.5}}
	e := must(k.Embedding(rff.Layout{In: 4}, 2))(t)
	be, rng := device.CPU(), rand.New(rand.NewPCG(1, 2))
	x, form, dx, out := be.New(3, 4), be.New(3, 10), be.New(3, 4), be.New(3, 10)
	for _, m := range []device.Matrix{x, form} {
		for i := range m.Data {
			m.Data[i] = rng.Float32()
		}
	}
	loss := func() (sum float64) {
		e.Transform(be, device.Batch{Rows: 3, Dense: x}, out)
		for i, v := range out.Data {
			sum += float64(v) * float64(form.Data[i])
		}
		return sum
	}
	e.Backward(be, x, form, dx)
	for i := range x.Data {
		const h = 1.0 / 128
		save := x.Data[i]
		x.Data[i] = save + h
		up := loss()
		x.Data[i] = save - h
		down := loss()
		x.Data[i] = save
		want := (up - down) / (2 * h)
		if math.Abs(want-float64(dx.Data[i])) > 2e-3*(1+math.Abs(want)) {
			t.Errorf("coordinate %d: derivative %v, want the difference quotient %v", i, dx.Data[i], want)
		}
	}
}

// TestEncodersThatDoNotFit checks that Plan refuses encoders that do not fit the records. It also
// loads an embedding's file, which does not contain the encoder, with the encoder as an argument.
func TestEncodersThatDoNotFit(t *testing.T) {
	s := records.Binary(6).WithLabels("a", "b")
	var param *param.Error
	inner := rff.RBF{Dim: 4, Bandwidth: 1}
	for i, k := range []merf.Encoded{{}, {Encoder: publicEncoder(t, 5, false), Kernel: inner},
		{Encoder: publicEncoder(t, 6, true), Kernel: inner},
		{Encoder: publicEncoder(t, 6, false), Kernel: rff.RBF{}}} {
		if _, err := small(s, accountant.AddOrRemoveOne, k).Plan(); !errors.As(err, &param) {
			t.Errorf("mistake %d: got %v, want *param.Error", i, err)
		}
	}
	k := merf.Encoded{Encoder: publicEncoder(t, 6, false), Kernel: inner}
	plan := mustPlan(t, small(s, accountant.AddOrRemoveOne, k))
	var file bytes.Buffer
	if err := mustEmbed(t, plan, empty(t, s)).Save(&file); err != nil {
		t.Fatal(err)
	}
	e := must(merf.LoadEmbedding(&file, k))(t)
	if _, err := merf.Train(context.Background(), e, quick); err != nil {
		t.Error(err)
	}
}
