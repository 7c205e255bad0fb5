//go:build amd64 && !noasm

package inertia

// assembled reports whether this program has vector instructions.
const assembled = true

// lessVector subtracts the products of rows of a and of b, of k numbers each, from the rows ×
// columns numbers of c. rows are a multiple of four, columns of three, k of lanes.
func lessVector(c []float64, ldc int, a []float64, lda int, b []float64, ldb int, rows, columns, k int) {
	top := 0
	if wide {
		top = rows &^ 7
		each(c, ldc, a, lda, b, ldb, top, columns, k, 8)
	}
	if top < rows {
		each(c[top*ldc:], ldc, a[top*lda:], lda, b, ldb, rows-top, columns, k, 4)
	}
}

// each subtracts them by tiles of size rows, and by groups of size numbers. It calls no function value, for which tiles
// would be allocated.
func each(c []float64, ldc int, a []float64, lda int, b []float64, ldb int, rows, columns, k, size int) {
	const bytes = 8
	for i := 0; i < rows; i += size {
		for j := 0; j < columns; j += tileColumns {
			_, _, _ = c[(i+size-1)*ldc+j+2], a[(i+size-1)*lda+k-1], b[(j+2)*ldb+k-1]
			if to, x, y := &c[i*ldc+j], &a[i*lda], &b[j*ldb]; size == 8 {
				less512(to, bytes*ldc, x, bytes*lda, y, bytes*ldb, k/8)
			} else {
				less256(to, bytes*ldc, x, bytes*lda, y, bytes*ldb, k/4)
			}
		}
	}
}

// substituteVector converts the numbers of whole rows in a block, of x with a stride of ld, to rows of L.
func substituteVector(x []float64, ld int, columns *[block * block]float64, d *[block]float64) {
	const bytes = 8
	if _ = x[(substituted()-1)*ld+block-1]; wide {
		substitute512(&x[0], bytes*ld, &columns[0], &d[0])
	} else {
		substitute256(&x[0], bytes*ld, &columns[0], &d[0])
	}
}
