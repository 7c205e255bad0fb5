//go:build !amd64 || noasm

package multigrid

func gramVector([]float64, block, block, []float64)           {}
func accumulateVector(block, block, *[Lanes * Lanes]float64)  {}
func flowVector(block, block, block, []float64)               {}
func (l *level) relaxVector(int, int, [4][]float32, [4]int)   {}
func gatherVector([]float32, []float32, []float32, int, bool) {}

func (l *level) interpolateVector(int, int, []float32, int, int, int) {}
