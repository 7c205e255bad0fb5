package files

import (
	"errors"
	"fmt"

	"eccbench/datasets/storage"
)

// Volumes counts the images of one shape in a file.
func Volumes(path string, o Options) (int64, error) {
	o.Volume = nil
	_, err := describeHeader(path, o)
	if several := (volumeError{}); errors.As(err, &several) {
		return several.count, nil
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return 1, nil
}

// describeHeader describes a file and decompresses only the necessary part.
func describeHeader(path string, o Options) (*fileBody, error) {
	files := &storage.Set{}
	defer files.Close() // only read from
	o.Stream = true
	b, err := describePath(files, path, o)
	if o.Stream = false; errors.As(err, &NotStreamed{}) {
		b, err = describePath(files, path, o)
	}
	return b, err
}
