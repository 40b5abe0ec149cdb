package marginal

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// Coarsen merges groups into coarse groups by their released counts; coarse is the largest number
// of coarse groups. Ordered values are merged with their neighbours into groups with about the same
// number of records. Of unordered levels, the least frequent are merged. Missing numbers keep a
// group of their own in addition, and a missing level counts as a level. An attribute with few
// groups gets no coarse groups.
//
// A coarse table has fewer cells than the fine table, and so less noise in total. If there are few
// records per cell, it can show how columns are related although the fine table shows noise only.
func (a Attribute) Coarsen(g *Grouping, coarse int) {
	if !a.Coarsens(g.Size, coarse) {
		return
	}
	held := make([]float64, g.Size)
	for code, group := range g.Group {
		held[group] += g.Part[code]
	}
	g.Coarse = make([]uint16, g.Size)
	if a.Ordered() == 0 {
		order := make([]int, g.Size)
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(i, k int) int { return cmp.Compare(held[k], held[i]) })
		for rank, group := range order {
			g.Coarse[group] = uint16(min(rank, coarse-1))
		}
		g.CoarseSize = coarse
		return
	}
	missing := -1
	if a.Missing {
		missing = int(g.Group[a.Codes-1])
	}
	all := 0.0
	for group, h := range held {
		if group != missing {
			all += max(h, 0)
		}
	}
	sum := 0.0
	for _, group := range g.inOrder(a.Ordered()) {
		middle := sum + max(held[group], 0)/2
		sum += max(held[group], 0)
		part := 0
		if all > 0 {
			part = min(int(middle/all*float64(coarse)), coarse-1)
		}
		g.Coarse[group] = uint16(part)
	}
	if missing >= 0 {
		g.Coarse[missing] = uint16(coarse)
	}
	g.CoarseSize = numbered(g.Coarse)
}

// Coarsens reports whether an attribute with this number of groups gets coarse groups.
func (a Attribute) Coarsens(groups, coarse int) bool {
	return coarse > 1 && !a.Class() && 2*groups >= 3*coarse
}

// inOrder returns the groups of the first codes, in the order of the codes.
func (g Grouping) inOrder(codes int) (list []int) {
	for code := range codes {
		if group := int(g.Group[code]); len(list) == 0 || list[len(list)-1] != group {
			list = append(list, group)
		}
	}
	return list
}

// numbered replaces the distinct values by 0, 1, 2, … in ascending order, and returns their number.
func numbered(values []uint16) int {
	kinds := slices.Clone(values)
	slices.Sort(kinds)
	kinds = slices.Compact(kinds)
	for i, v := range values {
		k, _ := slices.BinarySearch(kinds, v)
		values[i] = uint16(k)
	}
	return len(kinds)
}

// PassState encodes the groupings and their coarse groups as the state of a pass over records.
func PassState(list []Grouping) []byte {
	state := GroupState(list)
	for _, g := range list {
		for _, w := range g.Coarse {
			state = binary.LittleEndian.AppendUint16(state, w)
		}
	}
	return state
}

// ReadPassState decodes the groupings that PassState encoded. It expects coarse groups for the
// attributes for which Coarsens reports true.
func ReadPassState(attributes []Attribute, state []byte, coarse int) ([]Grouping, bool) {
	codes := 0
	for _, a := range attributes {
		codes += a.Codes
	}
	if len(state) < 2*codes {
		return nil, false
	}
	list, ok := ReadGroups(attributes, state[:2*codes])
	if !ok {
		return nil, false
	}
	state = state[2*codes:]
	for i, a := range attributes {
		g := &list[i]
		if !a.Coarsens(g.Size, coarse) {
			continue
		}
		if len(state) < 2*g.Size {
			return nil, false
		}
		g.Coarse = make([]uint16, g.Size)
		for k := range g.Coarse {
			g.Coarse[k] = binary.LittleEndian.Uint16(state[2*k:])
			if int(g.Coarse[k]) > coarse {
				return nil, false
			}
			g.CoarseSize = max(g.CoarseSize, int(g.Coarse[k])+1)
		}
		state = state[2*g.Size:]
	}
	return list, len(state) == 0
}

// Merged returns a grouping into the coarse groups of Coarsen, or g if g has fewer than 3/2·groups
// groups. A merged grouping has at most groups groups, or one more if numbers may be missing.
func (g Grouping) Merged(a Attribute, groups int) Grouping {
	a.Coarsen(&g, groups)
	if g.Coarse == nil {
		return g
	}
	merged := Grouping{Group: make([]uint16, len(g.Group)), Part: g.Part, Size: g.CoarseSize}
	for code, group := range g.Group {
		merged.Group[code] = g.Coarse[group]
	}
	return merged
}
