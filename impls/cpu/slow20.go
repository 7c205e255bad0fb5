//go:build slow20

package cpu

// slowdown is the percentage of the rows that are counted twice.
const slowdown = 20
