package storage

import (
	"io"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
)

// ReadAt fills dst with the bytes of a file at an offset. Large reads are split into pieces with
// several readers: one reader leaves a fast disk idle between its requests, and the kernel reads
// ahead best for small ones. The caller alone reads up to grid.AloneBytes.
func ReadAt(file io.ReaderAt, dst []byte, at int64) error {
	if parallel, ok := file.(interface {
		Fill(dst []byte, at int64) error
	}); ok { // it reads chunks in parallel itself
		return parallel.Fill(dst, at)
	}
	piece, readers := 128<<10, 8
	if _, remote := file.(*Object); remote {
		piece, readers = remotePiece, RemoteReaders
	} else if len(dst) <= grid.AloneBytes {
		readers = 1
	}
	n := (len(dst) + piece - 1) / piece
	return crew.Try(readers, n, func(_, i int) error {
		part := dst[i*piece : min((i+1)*piece, len(dst))]
		// ReadAt may return EOF although it fills a part at the end of the file.
		if k, err := file.ReadAt(part, at+int64(i*piece)); k < len(part) {
			return err
		}
		return nil
	})
}
