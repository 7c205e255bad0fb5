//go:build slow5

package cpu

// slowdown is the percentage of the rows that are counted twice.
const slowdown = 5
