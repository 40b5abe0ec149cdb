package kmeans

import "github.com/seed7ba64551/privgen/device"

// nearest finds the centre nearest to each row of features.
type nearest struct {
	be      device.Backend
	centers device.Matrix // K × d
	bias    device.Matrix // 1 × K: −‖c‖²/2
	scores  device.Matrix // rows × K
	host    []float32     // scores on the host, if the backend has separate memory
}

func newNearest(be device.Backend, k, dim, rows int) *nearest {
	n := &nearest{be: be, centers: be.New(k, dim), bias: be.New(1, k), scores: be.New(rows, k)}
	if n.scores.Mem != nil {
		n.host = make([]float32, rows*k)
	}
	return n
}

// set sets the centres. The centre c nearest to x has the largest ⟨x,c⟩ − ‖c‖²/2, because ‖x‖² is
// the same for all centres.
func (n *nearest) set(centers [][]float64) {
	k, d := n.centers.Rows, n.centers.Cols
	flat, bias := make([]float32, 0, k*d), make([]float32, k)
	for i, c := range centers {
		var sq float64
		for _, v := range c {
			f := float32(v)
			flat = append(flat, f)
			sq += float64(f) * float64(f)
		}
		bias[i] = float32(-sq / 2)
	}
	n.be.Upload(n.centers, flat)
	n.be.Upload(n.bias, bias)
}

// assign sets dst to the index of the centre nearest to each row. If several centres are equally
// near, it chooses the lowest index.
func (n *nearest) assign(features device.Matrix, dst []int32) {
	scores := n.scores.RowRange(0, features.Rows)
	n.be.Gemm(false, true, 1, features, n.centers, 0, scores)
	n.be.BiasApply(device.Identity, scores, n.bias)
	host := scores
	if n.host != nil {
		host = device.Matrix{Rows: scores.Rows, Cols: scores.Cols, Stride: scores.Cols,
			Data: n.host[:scores.Rows*scores.Cols]}
		n.be.Download(host.Data, scores)
	}
	for i := range features.Rows {
		best, at := host.Row(i), 0
		for j, v := range best {
			if v > best[at] {
				at = j
			}
		}
		dst[i] = int32(at)
	}
}
