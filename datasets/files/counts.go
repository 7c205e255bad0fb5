package files

import (
	"errors"
	"fmt"

	"eccbench/datasets/files/format"
	"eccbench/datasets/storage"
)

// Volumes counts the images of one shape in a file.
func Volumes(path string, o format.Options) (int64, error) {
	o.Volume = nil
	_, err := describeHeader(path, o)
	if several := (format.VolumeError{}); errors.As(err, &several) {
		return several.Count, nil
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return 1, nil
}

// describeHeader describes a file and decompresses only the necessary part.
func describeHeader(path string, o format.Options) (*format.Body, error) {
	files := &storage.Set{}
	defer files.Close() // only read from
	o.Stream = true
	b, err := describePath(files, path, o)
	if o.Stream = false; errors.As(err, &format.NotStreamed{}) {
		b, err = describePath(files, path, o)
	}
	return b, err
}
