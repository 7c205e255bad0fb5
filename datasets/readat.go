package datasets

import (
	"io"

	"eccbench/internal/grid"
)

// readAt fills dst with what stands at a place in a file. Large reads are made in
// pieces, a few at the same time: one reader alone leaves a fast disk idle between
// its requests, and the kernel reads ahead best of small ones. Up to grid.AloneBytes are read
// by the caller alone.
func readAt(file io.ReaderAt, dst []byte, at int64) error {
	if array, ok := file.(*zarrArray); ok { // whose chunks are read so by themselves
		return array.fillFrom(dst, at)
	}
	piece, readers := int64(128<<10), int64(8)
	if _, remote := file.(*remoteFile); remote {
		piece, readers = remotePiece, RemoteReaders
	} else if len(dst) <= grid.AloneBytes {
		readers = 1
	}
	n := (int64(len(dst)) + piece - 1) / piece
	var first firstError
	shareAmong(readers, n, func(next func() (int64, bool)) {
		for i, ok := next(); ok; i, ok = next() {
			part := dst[i*piece : min((i+1)*piece, int64(len(dst)))]
			// ReadAt may say EOF when it fills a part at the end of the file.
			if k, err := file.ReadAt(part, at+i*piece); k < len(part) {
				first.of(i, err)
			}
		}
	})
	return first.err
}
