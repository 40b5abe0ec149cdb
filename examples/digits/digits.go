// Package digits draws any number of labelled images of the ten digits, so examples and tests need
// no data files. The images resemble handwriting. Each image is the outline of a digit in one of
// the Go fonts, drawn with a random pen, slant, size and tremor.
package digits

import (
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/seed7ba64551/privgen/records"
)

// Side is the height and the width of an image.
const Side = 28

// Schema describes the images: 28×28 grey levels, labelled "0" to "9".
func Schema() records.Schema {
	return records.Image(Side, Side).WithLabels("0", "1", "2", "3", "4", "5", "6", "7", "8", "9")
}

// Draw draws n images, each of a class chosen uniformly. Image i depends on seed and i alone, for
// any number of cores. So a longer table begins with the images of a shorter one.
func Draw(n int, seed uint64) (*records.Table, error) {
	faces, err := loadFaces()
	if err != nil {
		return nil, err
	}
	pixels := make([]uint8, n*Side*Side)
	labels := make([]int32, n)
	workers := runtime.GOMAXPROCS(0)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			pen := newPen(faces)
			for i := w; i < n; i += workers {
				rng := rand.New(rand.NewPCG(seed, uint64(i)))
				labels[i] = int32(rng.IntN(10))
				pen.draw(rng, int(labels[i]), pixels[i*Side*Side:(i+1)*Side*Side])
			}
		})
	}
	wait.Wait()
	return records.FromBytes(Schema(), pixels, labels...)
}
