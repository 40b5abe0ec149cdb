package synth

import (
	"fmt"
	"slices"
)

// A release holds the sum and the number of the shares of one Gaussian release drawn so far.
type release struct {
	made int
	sums [][]float64
}

// add adds the sums of further shares; made is the number of these shares. All shares lie on one
// grid, so sums of so few shares are exact.
func (r *release) add(made int, sums [][]float64) error {
	if r.made == 0 {
		r.sums = make([][]float64, len(sums))
		for i, part := range sums {
			r.sums[i] = slices.Clone(part)
		}
		r.made = made
		return nil
	}
	same := func(a, b []float64) bool { return len(a) == len(b) }
	if !slices.EqualFunc(r.sums, sums, same) {
		return fmt.Errorf("%w: the shares of one release differ in size", ErrFormat)
	}
	r.made += made
	for i, part := range sums {
		for j, v := range part {
			r.sums[i][j] += v
		}
	}
	return nil
}

// has reports whether the sums have these sizes.
func (r *release) has(sizes []int) bool {
	return slices.EqualFunc(r.sums, sizes, func(part []float64, n int) bool { return len(part) == n })
}

func (r *release) mean() [][]float64 {
	out := make([][]float64, len(r.sums))
	for i, part := range r.sums {
		for _, v := range part {
			out[i] = append(out[i], v/float64(r.made))
		}
	}
	return out
}

// keptRelease describes a release in a checkpoint. Each part of its sums is a section of the
// file.
type keptRelease struct {
	Purpose string `json:"purpose"`
	Made    int    `json:"made"`
	Parts   int    `json:"parts"`
}

// writeReleases appends the releases to the file's sections.
func (k *keeper) writeReleases(f *File) (list []keptRelease) {
	for _, s := range k.run.program.stages {
		r := k.releases[s.Purpose]
		if r == nil {
			continue
		}
		list = append(list, keptRelease{s.Purpose, r.made, len(r.sums)})
		for _, part := range r.sums {
			f.Sections = append(f.Sections, Section{Name: s.Purpose, Data: Floats(part)})
		}
	}
	return list
}

func (k *keeper) readReleases(list []keptRelease, sections []Section) error {
	for _, kept := range list {
		if kept.Parts < 1 || kept.Parts > len(sections) || kept.Made < 1 || kept.Made > shares ||
			k.releases[kept.Purpose] != nil {
			return fmt.Errorf("%w: parts of the release %.40q are missing", ErrFormat, kept.Purpose)
		}
		var sums [][]float64
		for _, s := range sections[:kept.Parts] {
			v, err := ReadFloats[float64](s.Data, len(s.Data)/8)
			if err != nil {
				return err
			}
			sums = append(sums, v)
		}
		sections = sections[kept.Parts:]
		k.releases[kept.Purpose] = &release{kept.Made, sums}
	}
	return nil
}

// release returns the shares of a stage drawn so far, or nil if there are none. Only the stage's
// own goroutine adds shares.
func (k *keeper) release(purpose string) *release {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.releases[purpose]
}
