package ask

import (
	"fmt"
	"sync/atomic"

	"eccbench/internal/crew"
)

// small is an image of few enough bytes that one core answers for it while others answer
// for others.
const small = 64 << 20

// FewVoxels are so many voxels that are looked at in about the time that it takes to start another core.
const FewVoxels = 1 << 15

// EachImage calls answer with every image of so many bytes, and the cores that it has: small
// ones are answered for together.
func EachImage(images, size, threads int, answer func(i, threads int) error) error {
	workers := 1
	if size <= small {
		workers = min(threads, images)
		threads = max(1, threads/workers)
	}
	errs := make([]error, images)
	var next atomic.Int64
	var failed atomic.Bool
	crew.Each(workers, func(int) {
		for i := int(next.Add(1) - 1); i < images && !failed.Load(); i = int(next.Add(1) - 1) {
			if errs[i] = answer(i, threads); errs[i] != nil {
				failed.Store(true)
			}
		}
	})
	for i, err := range errs {
		if err != nil && images > 1 {
			err = fmt.Errorf("image %d: %w", i, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
