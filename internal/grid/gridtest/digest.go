package gridtest

import (
	"fmt"

	"github.com/zeebo/xxh3"

	"eccbench/internal/grid"
)

// Digest returns the hash of an image's shape, type, ladder and bytes, as 32 hex digits (XXH3, 128
// bits). It is the key of golden values.
func Digest(s grid.Source) (string, error) {
	h := xxh3.New()
	if _, err := fmt.Fprintf(h, "%v %v %s\n", s.Shape(), s.Type(), s.Ladder().Key()); err != nil {
		return "", err
	}
	err := grid.EachSlab(s, func(slab []byte, _, _ int64) error {
		_, err := h.Write(slab)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("digest: %w", err)
	}
	sum := h.Sum128()
	return fmt.Sprintf("%016x%016x", sum.Hi, sum.Lo), nil
}
