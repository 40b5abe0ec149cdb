package synth

import (
	"fmt"
	"slices"
)

// keptRelease describes a half of a release in a checkpoint; its numbers are a section a part.
type keptRelease struct {
	Purpose string `json:"purpose"`
	Parts   int    `json:"parts"`
}

// writeReleases appends the halves of all releases to the file's sections.
func (k *keeper) writeReleases(f *File) (list []keptRelease) {
	purposes := make([]string, 0, len(k.releases))
	for p := range k.releases {
		purposes = append(purposes, p)
	}
	slices.Sort(purposes)
	for _, p := range purposes {
		for _, half := range k.releases[p] {
			list = append(list, keptRelease{p, len(half)})
			for _, part := range half {
				f.Sections = append(f.Sections, Section{Name: p, Data: Floats64(part)})
			}
		}
	}
	return list
}

func (k *keeper) readReleases(list []keptRelease, sections []Section) error {
	for _, r := range list {
		if r.Parts < 0 || r.Parts > len(sections) {
			return fmt.Errorf("%w: a release without its parts", ErrFormat)
		}
		var half [][]float64
		for _, s := range sections[:r.Parts] {
			v, err := ReadFloats64(s.Data, len(s.Data)/8)
			if err != nil {
				return err
			}
			half = append(half, v)
		}
		sections = sections[r.Parts:]
		if same := k.releases[r.Purpose]; len(same) > 0 && !alike(same[0], half) {
			return fmt.Errorf("%w: halves of a release that differ in size", ErrFormat)
		}
		k.releases[r.Purpose] = append(k.releases[r.Purpose], half)
	}
	return nil
}

func alike(a, b [][]float64) bool {
	return slices.EqualFunc(a, b, func(x, y []float64) bool { return len(x) == len(y) })
}
