//go:build cuda && cgo

package cuda

import (
	"embed"
	"math"
	"unsafe"

	"github.com/seed7ba64551/privgen/device"
	"gorgonia.org/cu"
)

//go:generate kernels/compile.sh

//go:embed kernels/*.ptx
var compiled embed.FS

// These constants number the kernels.
const (
	adamKernel = iota
	adamOfSumKernel
	addRowsKernel
	applyKernel
	axpyKernel
	biasApplyKernel
	blockGramsKernel
	blockProductsKernel
	col2imKernel
	columnSlopesKernel
	columnSpreadsKernel
	columnSumsKernel
	cosSinKernel
	drawNoiseKernel
	fillKernel
	finishGramsKernel
	finishMeansKernel
	finishProductsKernel
	finishScalesKernel
	finishSlopesKernel
	finishSumsKernel
	fixedLargeKernel
	fixedListsKernel
	fixedRowsKernel
	fixedSmallKernel
	gradientKernel
	im2colKernel
	multiplyKernel
	normalizeGradientKernel
	normalizeKernel
	noisySumKernel
	productLargeKernel
	productSmallKernel
	rowDotsKernel
	scaleAllKernel
	scaleOddKernel
	scaleRowsKernel
	softmaxKernel
	subtractKernel
	thinProductKernel
	upSampleKernel
	upSampleGradientKernel
	kernelCount
)

// kernelNames holds the file and the name of each kernel.
var kernelNames = [kernelCount]struct{ file, name string }{
	adamKernel:              {"adam", "adam"},
	adamOfSumKernel:         {"noise", "adam_of_sum"},
	addRowsKernel:           {"sparse", "add_rows"},
	applyKernel:             {"elementwise", "apply"},
	axpyKernel:              {"elementwise", "axpy"},
	biasApplyKernel:         {"elementwise", "bias_apply"},
	blockGramsKernel:        {"blocks", "block_grams"},
	blockProductsKernel:     {"blocks", "block_products"},
	col2imKernel:            {"images", "col2im"},
	columnSlopesKernel:      {"columns", "column_slopes"},
	columnSpreadsKernel:     {"columns", "column_spreads"},
	columnSumsKernel:        {"columns", "column_sums"},
	cosSinKernel:            {"features", "cos_sin"},
	drawNoiseKernel:         {"noise", "draw_noise"},
	fillKernel:              {"elementwise", "fill"},
	finishGramsKernel:       {"blocks", "finish_grams"},
	finishMeansKernel:       {"columns", "finish_means"},
	finishProductsKernel:    {"blocks", "finish_products"},
	finishScalesKernel:      {"columns", "finish_scales"},
	finishSlopesKernel:      {"columns", "finish_slopes"},
	finishSumsKernel:        {"columns", "finish_sums"},
	fixedLargeKernel:        {"products", "fixed_large"},
	fixedListsKernel:        {"products", "fixed_lists"},
	fixedRowsKernel:         {"products", "fixed_rows"},
	fixedSmallKernel:        {"products", "fixed_small"},
	gradientKernel:          {"elementwise", "gradient"},
	im2colKernel:            {"images", "im2col"},
	multiplyKernel:          {"elementwise", "multiply"},
	normalizeGradientKernel: {"columns", "normalize_gradient"},
	normalizeKernel:         {"columns", "normalize"},
	productLargeKernel:      {"products", "product_large"},
	productSmallKernel:      {"products", "product_small"},
	noisySumKernel:          {"noise", "noisy_sum"},
	rowDotsKernel:           {"rows", "row_dots"},
	scaleAllKernel:          {"elementwise", "scale_all"},
	scaleOddKernel:          {"products", "scale_odd"},
	scaleRowsKernel:         {"elementwise", "scale_rows"},
	softmaxKernel:           {"rows", "softmax"},
	subtractKernel:          {"elementwise", "subtract"},
	thinProductKernel:       {"products", "thin_product"},
	upSampleGradientKernel:  {"images", "up_sample_gradient"},
	upSampleKernel:          {"images", "up_sample"},
}

type kernels [kernelCount]cu.Function

// loadKernels makes the driver compile every file for the current device. The context must be
// current.
func loadKernels() (loaded kernels, err error) {
	modules := map[string]cu.Module{}
	for i, k := range kernelNames {
		m, ok := modules[k.file]
		if !ok {
			ptx, err := compiled.ReadFile("kernels/" + k.file + ".ptx")
			if err != nil {
				return loaded, err
			}
			if m, err = cu.LoadData(string(ptx)); err != nil {
				return loaded, &Error{"kernels " + k.file, err}
			}
			modules[k.file] = m
		}
		if loaded[i], err = m.Function(k.name); err != nil {
			return loaded, &Error{"kernel " + k.name, err}
		}
	}
	return loaded, nil
}

// call collects the arguments of a launch. Each argument takes eight bytes, for every type.
type call struct {
	g      *gpu
	kernel int
	n      int
	words  [20]uint64
	places [20]unsafe.Pointer
}

// kernel starts to collect the arguments of a launch. The caller must have called begin.
func (g *gpu) kernel(number int) *call {
	c := &g.call
	c.g, c.kernel, c.n = g, number, 0
	return c
}

func (c *call) word(w uint64) *call {
	c.words[c.n] = w
	c.places[c.n] = unsafe.Pointer(&c.words[c.n])
	c.n++
	return c
}

func (c *call) int(n int) *call               { return c.word(uint64(n)) }
func (c *call) float(x float32) *call         { return c.word(uint64(math.Float32bits(x))) }
func (c *call) double(x float64) *call        { return c.word(math.Float64bits(x)) }
func (c *call) pointer(at cu.DevicePtr) *call { return c.word(uint64(at)) }
func (c *call) row(m device.Matrix) *call     { return c.pointer(address(m)) }
func (c *call) matrix(m device.Matrix) *call  { return c.row(m).int(m.Stride) }
func (c *call) size(m device.Matrix) *call    { return c.int(m.Rows).int(m.Cols) }
func (c *call) window(w device.Window) *call {
	return c.image(w.Image).int(w.Size).int(w.Stride).int(w.Pad)
}
func (c *call) image(m device.Image) *call { return c.int(m.Height).int(m.Width).int(m.Channels) }
func (c *call) launch(across, down, threads int) {
	err := c.g.kernels[c.kernel].Launch(across, down, 1, threads, 1, 1, 0, cu.Stream{}, c.places[:c.n])
	check("kernel "+kernelNames[c.kernel].name, err)
}

// crowd is the largest number of blocks in a launch: enough blocks of 256 threads to fill the
// largest device several times. If there are more elements, each thread processes several elements
// in turn.
const crowd = 1 << 13

// each launches a thread for each element.
func (c *call) each(elements int) {
	if elements > 0 {
		c.launch(min((elements+255)/256, crowd), 1, 256)
	}
}

// eachRow launches a group of threads for each row.
func (c *call) eachRow(rows int) {
	if rows > 0 {
		c.launch(min((rows+3)/4, crowd), 1, 128)
	}
}
