package rows

import "eccbench/internal/isa"

// The number of cells in a row is a multiple of Lanes. Behind the last cell Diag is 1 and every other
// list is 0, and no kernel changes those cells.
const Lanes = 16

// Padded returns the length of a row of n cells, with at least one 0 behind the last.
func Padded(n int) int { return (n + Lanes) / Lanes * Lanes }

// A Row is a row of cells of a finite-volume grid along x, with its neighbour rows. The operator is
//
//	A u = Diag·u − sum    sum = Along·(Link(x)·u(x−1) + Link(x+1)·u(x+1))
//	                          + Width·((LinkNorth·u(North) + LinkSouth·u(South))
//	                                   + (LinkBelow·u(Below) + LinkAbove·u(Above)))
//
// Each operation is rounded separately, so that every instruction set has the same bits.
type Row struct {
	U                              []float32 // of all rows, with a 0 at both ends of each
	At, North, South, Below, Above int       // where rows begin in U; a neighbour with link 0 is the row itself
	N                              int       // cells, a multiple of Lanes
	F, Diag                        []float32 // F is given; Diag see above
	Link, Width                    []float32 // Link has a value more than there are cells
	Along                          float32
	LinkNorth, LinkSouth           float32
	LinkBelow, LinkAbove           float32
}

// A Rest has the operands and results of the residual w·b·v0 − A u of the finest cells in float64.
// w is the product of a cell's widths along x, y and z:
//
//	e = (Along·(Link(x)·(u(x−1)−u) + Link(x+1)·(u(x+1)−u)) + Width·(…the same for the neighbour rows…))
//	    + Along·Width·B·(V0−u)
type Rest struct {
	B, V0 []float32
	Over  []float32 // 1/Width
	Scale float64   // of the residual that is kept
	To    []float32 // e·Scale
	Sums            // scratch
}

// Sums are two for each of eight values that lie side by side.
type Sums [2 * partial]float64

// A Kit is the set of row kernels of a multigrid solver, in one instruction set.
type Kit struct {
	// Begin sets the cells of one colour, 0 for the first and every other, to F·(1/Diag), the rest to 0.
	Begin func(r *Row, colour int)
	// Relax sets the cells of one colour to (F + sum)·(1/Diag).
	Relax func(r *Row, colour int)
	// Remain sets to to F + sum − Diag·u.
	Remain func(r *Row, to []float32)
	// Rest stores the residual and returns the sums of (e·Over)² and e·u.
	Rest func(r *Row, of *Rest) (squares, product float64)
	// Blend adds four rows, each times its share: dst += (w0·a + w1·b) + (w2·c + w3·d).
	Blend func(dst []float32, from *[4][]float32, share *[4]float32)
	// Turn sets d to z + keep·d.
	Turn func(d, z []float32, keep float32)
	// Advance adds step·d to x.
	Advance func(x, d []float32, step float32)
	// Dot is the sum of a·b in float64. It overwrites sums.
	Dot func(a, b []float32, sums *Sums) float64
}

// ChooseKit returns the kit of an instruction set, or the fastest for "".
func ChooseKit(asked string) (*Kit, error) {
	name, err := isa.Choose(asked, Available())
	if err != nil {
		return nil, err
	}
	return kit(name), nil
}

var portable = Kit{begin, relax, remain, rest, blend, turn, advance, dot}

func begin(r *Row, colour int) {
	u, f, diag := r.U[r.At:][:r.N], r.F[:r.N], r.Diag[:r.N]
	for x := 0; x < r.N; x += 2 {
		u[x+colour], u[x+1-colour] = f[x+colour]*(1/diag[x+colour]), 0
	}
}

// neighbourSum returns the weighted sum of the neighbours of a cell.
func (r *Row) neighbourSum(x int, here, north, south, below, above []float32) float32 {
	along := float32(r.Along * float32(float32(r.Link[x]*r.U[r.At+x-1])+float32(r.Link[x+1]*r.U[r.At+x+1])))
	plane := float32(float32(r.LinkNorth*north[x]) + float32(r.LinkSouth*south[x]))
	beside := float32(plane + float32(float32(r.LinkBelow*below[x])+float32(r.LinkAbove*above[x])))
	return float32(along + float32(r.Width[x]*beside))
}

// lists returns the row and its neighbours.
func (r *Row) lists() (here, north, south, below, above []float32) {
	of := func(at int) []float32 { return r.U[at:][:r.N] }
	return of(r.At), of(r.North), of(r.South), of(r.Below), of(r.Above)
}

func relax(r *Row, colour int) {
	here, north, south, below, above := r.lists()
	for x := colour; x < r.N; x += 2 {
		if r.Width[x] == 0 { // behind the last cell, where another goroutine may set the next row
			continue
		}
		here[x] = float32(r.F[x]+r.neighbourSum(x, here, north, south, below, above)) * (1 / r.Diag[x])
	}
}

func remain(r *Row, to []float32) {
	here, north, south, below, above := r.lists()
	for x, u := range here {
		to[x] = float32(r.F[x]+r.neighbourSum(x, here, north, south, below, above)) - float32(r.Diag[x]*u)
	}
}

func rest(r *Row, of *Rest) (squares, product float64) {
	here, north, south, below, above := r.lists()
	sums := &of.Sums
	clear(sums[:])
	for x, v := range here {
		u := float64(v)
		less := func(list []float32, at int) float64 { return float64(list[at]) - u }
		along := float64(float64(r.Along) * (float64(float64(r.Link[x])*less(r.U, r.At+x-1)) +
			float64(float64(r.Link[x+1])*less(r.U, r.At+x+1))))
		plane := float64(float64(r.LinkNorth)*less(north, x)) + float64(float64(r.LinkSouth)*less(south, x))
		beside := plane + (float64(float64(r.LinkBelow)*less(below, x)) + float64(float64(r.LinkAbove)*less(above, x)))
		width := float64(r.Width[x])
		e := (along + float64(width*beside)) +
			float64(float64(float64(float64(r.Along)*width)*float64(of.B[x]))*(float64(of.V0[x])-u))
		of.To[x] = float32(e * of.Scale)
		t := e * float64(of.Over[x])
		sums[x%partial] += float64(t * t)
		sums[partial+x%partial] += float64(e * u)
	}
	return total(sums[:partial]), total(sums[partial:])
}

// partial is the number of partial sums of a row.
const partial = 8

func total(sums []float64) (sum float64) {
	for _, v := range sums {
		sum += v
	}
	return sum
}

func blend(dst []float32, from *[4][]float32, share *[4]float32) {
	n := len(dst)
	a, b, c, d := from[0][:n], from[1][:n], from[2][:n], from[3][:n]
	for x := range dst {
		one := float32(float32(share[0]*a[x]) + float32(share[1]*b[x]))
		two := float32(float32(share[2]*c[x]) + float32(share[3]*d[x]))
		dst[x] = dst[x] + float32(one+two)
	}
}

func turn(d, z []float32, keep float32) {
	z = z[:len(d)]
	for x, v := range d {
		d[x] = z[x] + float32(keep*v)
	}
}

func advance(x, d []float32, step float32) {
	d = d[:len(x)]
	for i, v := range d {
		x[i] = x[i] + float32(step*v)
	}
}

func dot(a, b []float32, sums *Sums) float64 {
	clear(sums[:])
	b = b[:len(a)]
	for x, v := range a {
		sums[x%partial] += float64(float64(v) * float64(b[x]))
	}
	return total(sums[:partial])
}
