package baselines

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// coarsen merges groups into at most so many coarse groups, by their released counts. Of values
// in an order it merges neighbours into groups with about the same number of records; of levels
// it merges the least frequent. A missing number keeps its own group, and a missing level counts
// as a level. An attribute with few groups gets no coarse ones.
//
// A coarse table has a fraction of the cells, and so of the noise. With few records to a cell it
// shows how columns are related where the fine table shows noise alone.
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

// coarsens reports whether an attribute of so many groups gets coarse ones.
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

// numbered gives values successive numbers from 0, in their order, and returns how many there are.
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

// passState returns the groupings as a pass over records carries them, with the coarse groups.
func passState(list []grouping) []byte {
	state := groupState(list)
	for _, g := range list {
		for _, w := range g.coarse {
			state = binary.LittleEndian.AppendUint16(state, w)
		}
	}
	return state
}

// readPassState reads what passState writes. An attribute has coarse groups where coarsen makes
// them.
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
