package baselines

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// coarsen merges groups into coarse groups by their released counts; coarse is the largest number
// of coarse groups. Ordered values are merged with their neighbours into groups with about the same
// number of records. Of unordered levels, the least frequent are merged. A missing number keeps its
// own group in addition, and a missing level counts as a level. An attribute with few groups gets
// no coarse groups.
//
// A coarse table has fewer cells than the fine table, and so less noise in total. If there are few
// records per cell, it can show how columns are related although the fine table shows noise only.
func (a attribute) coarsen(g *grouping, coarse int) {
	if !a.coarsens(g.size, coarse) {
		return
	}
	held := make([]float64, g.size)
	for code, group := range g.group {
		held[group] += g.part[code]
	}
	g.coarse = make([]uint16, g.size)
	if a.ordered() == 0 {
		order := make([]int, g.size)
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(i, k int) int { return cmp.Compare(held[k], held[i]) })
		for rank, group := range order {
			g.coarse[group] = uint16(min(rank, coarse-1))
		}
		g.coarseSize = coarse
		return
	}
	missing := -1
	if a.missing {
		missing = int(g.group[a.codes-1])
	}
	all := 0.0
	for group, h := range held {
		if group != missing {
			all += max(h, 0)
		}
	}
	sum := 0.0
	for _, group := range g.inOrder(a.ordered()) {
		middle := sum + max(held[group], 0)/2
		sum += max(held[group], 0)
		part := 0
		if all > 0 {
			part = min(int(middle/all*float64(coarse)), coarse-1)
		}
		g.coarse[group] = uint16(part)
	}
	if missing >= 0 {
		g.coarse[missing] = uint16(coarse)
	}
	g.coarseSize = numbered(g.coarse)
}

// coarsens reports whether an attribute with this number of groups gets coarse groups.
func (a attribute) coarsens(groups, coarse int) bool {
	return coarse > 1 && !a.class() && 2*groups >= 3*coarse
}

// inOrder returns the groups of the first codes, in the order of the codes.
func (g grouping) inOrder(codes int) (list []int) {
	for code := range codes {
		if group := int(g.group[code]); len(list) == 0 || list[len(list)-1] != group {
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

// passState encodes the groupings and their coarse groups as the state of a pass over records.
func passState(list []grouping) []byte {
	state := groupState(list)
	for _, g := range list {
		for _, w := range g.coarse {
			state = binary.LittleEndian.AppendUint16(state, w)
		}
	}
	return state
}

// readPassState decodes the groupings that passState encoded. It expects coarse groups for the
// attributes for which coarsens reports true.
func readPassState(attributes []attribute, state []byte, coarse int) ([]grouping, bool) {
	codes := 0
	for _, a := range attributes {
		codes += a.codes
	}
	if len(state) < 2*codes {
		return nil, false
	}
	list, ok := readGroups(attributes, state[:2*codes])
	if !ok {
		return nil, false
	}
	state = state[2*codes:]
	for i, a := range attributes {
		g := &list[i]
		if !a.coarsens(g.size, coarse) {
			continue
		}
		if len(state) < 2*g.size {
			return nil, false
		}
		g.coarse = make([]uint16, g.size)
		for k := range g.coarse {
			g.coarse[k] = binary.LittleEndian.Uint16(state[2*k:])
			if int(g.coarse[k]) > coarse {
				return nil, false
			}
			g.coarseSize = max(g.coarseSize, int(g.coarse[k])+1)
		}
		state = state[2*g.size:]
	}
	return list, len(state) == 0
}
