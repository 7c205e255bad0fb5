//go:build amd64 && !noasm

package inertia

// assembled reports whether this program has vector instructions.
const assembled = true

// lessVector subtracts the products of rows of a and of b, of k numbers each, from the rows ×
// columns numbers of c. rows and k are multiples of four, columns of three.
func lessVector(c []float64, ldc int, a []float64, lda int, b []float64, ldb int, rows, columns, k int) {
	const bytes = 8
	for i := 0; i < rows; i += 4 {
		for j := 0; j < columns; j += 3 {
			_, _, _ = c[(i+3)*ldc+j+2], a[(i+3)*lda+k-1], b[(j+2)*ldb+k-1]
			less256(&c[i*ldc+j], bytes*ldc, &a[i*lda], bytes*lda, &b[j*ldb], bytes*ldb, k/4)
		}
	}
}
