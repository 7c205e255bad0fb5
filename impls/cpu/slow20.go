//go:build slow20

package cpu

// slowdown is the percentage of the rows that are done twice.
const slowdown = 20
