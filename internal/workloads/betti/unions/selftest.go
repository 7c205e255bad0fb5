package unions

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"eccbench/internal/isa"
)

// SelfTest compares the neighbours and links that vector instructions find with those of Go code, in
// boxes of noise from the seed, whose rows have any number of words.
func SelfTest(seed uint32) error {
	return errors.Join(selfTest[uint8](seed), selfTest[uint32](seed))
}

func selfTest[K key](seed uint32) error {
	type result struct {
		corners, faces group
		first          [groupVoxels]uint8
	}
	rng := rand.New(rand.NewPCG(uint64(seed), 5))
	for range 10 {
		b := &box{hi: [3]int64{1 + rng.Int64N(3), 1 + rng.Int64N(9), 1 + rng.Int64N(200)}}
		levels, reverse := 2+rng.Uint32N(200), rng.IntN(2) == 0
		err := isa.Compare(isa.Available(assembled), slices.Equal, func(name string) (list []result, err error) {
			j := &joiner[K]{kernel: kernelOf[K](name)}
			p := &j.plan
			p.lay(b)
			values := rand.New(rand.NewPCG(uint64(levels), 1))
			for range 2*p.lead + p.d*p.plane {
				j.keys = append(j.keys, ^K(0)*K(values.IntN(2))-K(values.Uint32N(levels)))
			}
			for z := range p.d {
				if j.compare(z); z+1 < p.d {
					j.compare(z + 1)
				}
				for at := 0; at < p.size; at += groupWords {
					g, r := &group{}, result{}
					for _, to := range []*group{&r.corners, &r.faces} {
						for axis := range g.sides {
							for lane := range g.sides[axis] {
								g.sides[axis][lane] = values.Uint64() & values.Uint64() & values.Uint64()
							}
						}
						if to == &r.corners {
							j.kernel.corners(p, g, z, at, reverse)
						} else {
							j.kernel.faces(p, g, z, at, &r.first)
						}
						*to = *g
					}
					list = append(list, r)
				}
			}
			return list, nil
		})
		if err != nil {
			return fmt.Errorf("a box of %v with seed %d: %w", b.hi, seed, err)
		}
	}
	return nil
}
