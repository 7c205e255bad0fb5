package extrema

import (
	"testing"
)

func TestPiecesJoin(t *testing.T) {
	piecesJoin(t, available(), []int64{1, 2, 5}, []int64{2, 3, 4, 5}, 9)
}
