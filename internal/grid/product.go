package grid

// Product returns the product of the lengths of axes.
func Product(list []int64) int64 {
	p := int64(1)
	for _, n := range list {
		p *= n
	}
	return p
}
