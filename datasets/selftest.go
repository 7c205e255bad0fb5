package datasets

import (
	"bytes"
	"fmt"

	"eccbench/datasets/files/format"
	"eccbench/datasets/vectors"
	"eccbench/internal/grid"
	"eccbench/internal/isa"
)

// SelfTest compares images by vector instructions with images by Go code from the same seed.
func SelfTest(seed uint32) error {
	for _, name := range []string{
		"noise/shape=131x5x3/type=uint8/levels=256", "noise/shape=131x7/type=int16/levels=500", "noise/shape=70x5x3/type=uint16/levels=65536",
		"noise/shape=131x7/type=float32/levels=1000", "noise/shape=131x7/type=float32/levels=99/step=0.1",
		"grf/shape=67x10x9/type=uint8/levels=256/smooth=3", "grf/shape=131x20/type=int16/levels=1000/smooth=9",
		"grf/shape=67x10x9/type=float32/levels=1024/smooth=5", "grf/shape=131x20/type=float32/levels=99/step=0.1/smooth=3",
	} {
		name = fmt.Sprintf("%s/seed=%d", name, seed)
		n, err := split(name)
		if err != nil {
			return err
		}
		err = isa.Compare(vectors.Available(), bytes.Equal, func(isa string) ([]byte, error) {
			r, err := resolveOn(n, format.Options{}, isa)
			if err != nil {
				return nil, err
			}
			s, err := r.open()
			if err != nil {
				return nil, err
			}
			f, err := grid.Load(s)
			if err != nil {
				return nil, err
			}
			return f.Data(), nil
		})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
