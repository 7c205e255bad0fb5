// Package datasets names, generates and opens the images for implementations.
//
// An input is a printable string, a generator's name and its parameters:
//
//	noise/shape=512x512x512/levels=1024/type=float32/seed=7
//
// Open returns its Source, with the same bytes on every machine. Generated images use integer
// arithmetic, or float64 operations that are rounded one at a time, so that no compiler setting
// changes a bit. Every slab is computed independently, in memory bounded by the slab and at most
// 64 MiB per goroutine. Noise takes each voxel from a counter-based generator at the voxel's
// coordinates. Solids are predicates of the coordinates. Package files reads files.
package datasets
