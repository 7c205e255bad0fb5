package crew

import "fmt"

// small is the largest size in bytes of images that are processed at the same time, one per core.
const small = 64 << 20

// FewVoxels is the number of voxels that one core reads in about the time needed to start another
// core.
const FewVoxels = 1 << 15

// EachImage calls answer with the index of every image and its number of threads. Images of small
// size are processed at the same time. The error is the first image's that has one.
func EachImage(images, size, threads int, answer func(i, threads int) error) error {
	workers := 1
	if size <= small {
		workers = min(threads, images)
		threads = max(1, threads/workers)
	}
	return Try(workers, images, func(_, i int) error {
		err := answer(i, threads)
		if err != nil && images > 1 {
			err = fmt.Errorf("image %d: %w", i, err)
		}
		return err
	})
}
