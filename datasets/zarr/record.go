package zarr

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"path/filepath"
	"strings"
	"sync/atomic"

	"eccbench/datasets/storage"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
)

// A rowRecord summarises the first read of a row of chunks: the number of chunks, the number of
// missing ones, and the sum of the hashes of the others' names and versions.
type rowRecord struct {
	chunks, missing int64
	versions        uint64
}

// mostRows is more than the number of rows of chunks in an image. Each row has a record.
const mostRows = 1 << 22

var hashSeed = maphash.MakeSeed()

// hash identifies the chunk's object and its version.
func (c *chunkPlacer) hash() uint64 {
	return maphash.String(hashSeed, fmt.Sprint(c.key, "\n", c.is.Size, "\n", c.is.Version))
}

// readChunks reads the chunks of a row and calls use with each; a missing chunk is nil. It returns
// an error if the row has changed since an earlier read.
func (a *Array) readChunks(row int64, b chunkBox, use func(c *chunkPlacer, data []byte)) error {
	var missing atomic.Int64
	var versions atomic.Uint64
	err := a.each(b, a.store.Readers(), func(c *chunkPlacer) error {
		data, err := c.load()
		if err != nil {
			return err
		}
		if data == nil {
			missing.Add(1)
		}
		if c.is != (storage.FileInfo{}) {
			versions.Add(c.hash())
		}
		use(c, data)
		return nil
	})
	if err != nil {
		return err
	}
	record := rowRecord{grid.Product(b.count), missing.Load(), versions.Load()}
	a.mu.Lock()
	defer a.mu.Unlock()
	if was, again := a.seen[row]; again && was != record {
		return storage.ErrChanged
	}
	if a.seen == nil {
		a.seen = map[int64]rowRecord{}
	}
	a.seen[row] = record
	return nil
}

// Unchanged returns an error if a chunk of the rows that were read has changed.
func (a *Array) Unchanged() error {
	a.mu.Lock()
	rows := a.seen
	a.mu.Unlock()
	for row, was := range rows { // reading has ended
		from, to := a.spanOf(row)
		b, _ := a.box(from, to-from)
		var versions atomic.Uint64
		err := a.each(b, a.store.Readers(), func(c *chunkPlacer) error {
			c.find()
			is, known := a.store.Stat(c.key)
			if !known {
				return errUnknown
			}
			if c.is = is; is != (storage.FileInfo{}) {
				versions.Add(c.hash())
			}
			return nil
		})
		if errors.Is(err, errUnknown) {
			return nil
		}
		if err != nil || versions.Load() != was.versions {
			return storage.ErrChanged
		}
	}
	return nil
}

// errUnknown ends an inspection of objects that takes too long.
var errUnknown = errors.New("not known")

// Missing reports how many of the read chunks are missing. Before any read, it reports the number
// of chunks that will be missing. It returns "" for none.
func (a *Array) Missing() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var sum rowRecord
	for _, r := range a.seen {
		sum.chunks, sum.missing = sum.chunks+r.chunks, sum.missing+r.missing
	}
	switch expected := a.objects(); {
	case sum.missing > 0:
		return fmt.Sprintf("%d of %d chunks missing: fill value %s", sum.missing, sum.chunks, a.fillText)
	case sum.chunks == 0 && a.present >= 0 && a.present < expected/2:
		return a.scarce(expected)
	}
	return ""
}

func (a *Array) scarce(expected int64) string {
	what := "chunks"
	if a.shards != nil {
		what = "shards"
	}
	return fmt.Sprintf("%d of %d %s present: the others are read as the fill value %s",
		a.present, expected, what, a.fillText)
}

// objects returns the number of objects of a complete array, at most mostRow.
func (a *Array) objects() int64 {
	n := int64(1)
	for i := range a.Shape {
		across := a.chunksAlong(i)
		if a.shards != nil {
			across = (across + a.shards.each[i] - 1) / a.shards.each[i]
		}
		if n > mostRow/across {
			return mostRow
		}
		n *= across
	}
	return n
}

// manyObjects is the number of objects from which it takes long to check whether each exists.
// Before that, at most this number of folder entries is listed.
const manyObjects = 1 << 16

// mostFill is the greatest size in bytes of an array without a stored chunk.
const mostFill = 64 << 30

// forecast counts the objects of an array that should have many, if a short listing shows their
// number.
func (a *Array) forecast() error {
	rows := int64(1)
	for i := range a.axis + 1 {
		if rows *= a.chunksAlong(i); rows > mostRows || rows < 0 {
			return fmt.Errorf("shape %v in chunks of %v has more than %d rows of chunks; save it in larger chunks",
				a.Shape, a.chunk, int64(mostRows))
		}
	}
	a.present = -1
	expected := a.objects()
	lister, ok := a.store.(interface{ path(key string) string })
	if !ok || expected < manyObjects && a.Bytes() <= mostFill {
		return nil
	}
	present, entries := int64(0), 0
	err := filepath.WalkDir(lister.path(a.at), func(_ string, e fs.DirEntry, err error) error {
		if entries++; err != nil || entries > manyObjects {
			return errUnknown
		}
		if name := strings.TrimPrefix(e.Name(), "c."); !e.IsDir() && strings.Trim(name, "0123456789.") == "" {
			present++
		}
		return nil
	})
	if err != nil {
		return nil
	}
	if a.present = present; a.strict && present < expected {
		return errors.New(a.scarce(expected) + "; write them again, or leave strict out")
	}
	if present == 0 && a.Bytes() > mostFill {
		return fmt.Errorf("%s, which is all %s of it; write its chunks, or delete it",
			a.scarce(expected), quantity.Bytes(a.Bytes()))
	}
	return nil
}
