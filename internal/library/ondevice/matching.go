package ondevice

import (
	"fmt"

	"eccbench/impls/assess/matching"
	"eccbench/internal/device"
	"eccbench/internal/grid"
)

// matched returns a function that loads the kernels for matched features of pairs of masks.
func (r Request) matched(s grid.Shape, t grid.Type) (func(device.Guest) (*Plan, error), error) {
	corners := r.Matching == "T"
	if !corners && r.Matching != "V" {
		return nil, fmt.Errorf("matching %q: want T or V", r.Matching)
	}
	if t != grid.Uint8 {
		return nil, fmt.Errorf("masks of %v: want %v", t, grid.Uint8)
	}
	return func(d device.Guest) (*Plan, error) {
		b, err := matching.Open(d, s, corners)
		if err != nil {
			return nil, err
		}
		return &Plan{
			Rows: 1, Memory: b.Memory(), Most: b.Most(), kernels: b, enqueue: b.Enqueue,
			image: 2 * s.Voxels(), answer: b.Answer(),
			check: &check{open: func(d device.Guest) (opened, error) {
				w, err := matching.OpenWitness(d, s, corners)
				return &other{w, d, []int{0}, func(pair int64, _ int) string {
					return fmt.Sprintf("the matched features of pair %d", pair)
				}}, err
			}},
		}, nil
	}, nil
}
