package marginal

// EachGroup calls visit for every group of the given size of n attributes, in ascending order.
func EachGroup(n, size int, visit func([]int)) {
	group := make([]int, size)
	var fill func(k, from int)
	fill = func(k, from int) {
		if k == size {
			visit(group)
			return
		}
		for a := from; a < n; a++ {
			group[k] = a
			fill(k+1, a+1)
		}
	}
	fill(0, 0)
}
