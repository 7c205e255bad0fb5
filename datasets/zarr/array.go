// Package zarr reads arrays of Zarr versions 2 and 3, from a folder or a server.
package zarr

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"eccbench/datasets/element"
	"eccbench/datasets/storage"
	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
)

// An Array holds the stored bytes of an array's elements in C order. It reads rows of chunks: a
// row contains the chunks in a range of one axis. A partly requested row is kept until it has been
// read completely. So a reader in order reads and decodes each chunk once.
type Array struct {
	store             Store
	at                string // in the store
	prefix, separator string // of the chunks' names
	Shape, chunk      []int64
	Stored            element.Type
	Truth             bool // every nonzero value is 1
	coding            chunkCoding
	fill              []byte // an element of a missing chunk, in the array's byte order
	fillText          string // the same in the metadata
	strict            bool   // a missing chunk is an error
	shards            *shardGrid

	axis   int   // the axis along which rows of chunks follow each other
	slice  int64 // bytes of one step along it
	memory int64 // for rows; 0 for no limit

	mu      sync.Mutex
	rows    map[int64]*chunkRow
	used    int64    // number of uses of rows
	spare   [][]byte // chunks of rows that were dropped
	placers []*chunkPlacer
	indices map[string]*shardIndex
	closed  bool
	seen    map[int64]rowRecord
	present int64 // number of objects of the array before reading; -1 if unknown
}

// A shardGrid describes the chunks in shards.
type shardGrid struct {
	each   []int64 // chunks of a shard along each axis
	coding chunkCoding
	first  bool // the index precedes the chunks
}

// A shardIndex holds the offsets and lengths of a shard's chunks; nil for a missing shard.
type shardIndex struct {
	once   sync.Once
	places []uint64
	is     storage.FileInfo // the shard
	err    error
}

// A chunkRow is a row of chunks that is in memory or being read.
type chunkRow struct {
	done   chan struct{}
	chunks [][]byte
	err    error
	given  int64 // bytes already copied
	users  int
	last   int64 // time of the last use
}

// Bytes returns the size of the array.
func (a *Array) Bytes() int64 { return grid.Product(a.Shape) * a.Stored.Size() }

// Big reports whether the stored bytes are big-endian.
func (a *Array) Big() bool { return a.coding.big }

// Prepare chooses the axis of the rows for the slices of an image. It returns an error if the rows
// need more than the memory in bytes, where 0 is no limit. With strict, a missing chunk is an error.
func (a *Array) Prepare(shape grid.Shape, memory int64, strict bool) error {
	a.memory, a.strict, a.slice = memory, strict, grid.Product(a.Shape)*a.Stored.Size()
	want := shape.SliceVoxels() * a.Stored.Size()
	for i, n := range a.Shape {
		a.axis = i
		if a.slice /= n; a.slice <= want {
			break
		}
	}
	if err := a.room(); err != nil {
		return err
	}
	return a.forecast()
}

// Step returns the number of slices of a row.
func (a *Array) Step() int64 { return a.chunk[a.axis] }

// chunkBytes returns the decoded size of a chunk.
func (a *Array) chunkBytes() int64 { return grid.Product(a.chunk) * a.Stored.Size() }

// rowBytes returns the size of the chunks of a row.
func (a *Array) rowBytes() int64 {
	n := a.chunkBytes()
	for i := a.axis + 1; i < len(a.Shape); i++ {
		if n > mostRow/a.chunksAlong(i) {
			return mostRow
		}
		n *= a.chunksAlong(i)
	}
	return n
}

// mostRow is more than the size of any row.
const mostRow = 1 << 60

// rowsKept is the number of rows in memory while readers request parts of them.
const rowsKept = 2

// CachedBytes returns the memory of the rows in memory, and of encoded and decoded chunks during reads.
func (a *Array) CachedBytes() int64 {
	return rowsKept*a.rowBytes() + 2*min(a.store.Readers()*a.chunkBytes(), a.rowBytes())
}

// room returns an error if held exceeds the available memory.
func (a *Array) room() error {
	if need := a.CachedBytes(); a.memory > 0 && need > a.memory {
		return fmt.Errorf("%d rows of its chunks of %v, and those that are read, take %s of memory, %s are free; use a "+
			"machine with more, or save it in chunks of fewer slices",
			rowsKept, a.chunk, quantity.Bytes(need), quantity.Bytes(a.memory))
	}
	return nil
}

// Close releases the rows. Later reads return an error.
func (a *Array) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed, a.rows, a.indices, a.spare, a.placers = true, nil, nil, nil, nil
	return nil
}

// ReadAt reads stored bytes at an offset.
func (a *Array) ReadAt(dst []byte, at int64) (int, error) {
	n := min(int64(len(dst)), max(0, a.Bytes()-at))
	if err := a.Fill(dst[:n], at); err != nil {
		return 0, err
	}
	if n < int64(len(dst)) {
		return int(n), io.EOF
	}
	return int(n), nil
}

// rowAt returns the row of the byte at an offset, and the row's first and last offset.
func (a *Array) rowAt(at int64) (row, from, to int64) {
	volume := a.Shape[a.axis] * a.slice // each volume has the same rows
	row = at/volume*a.chunksAlong(a.axis) + at%volume/(a.Step()*a.slice)
	from, to = a.spanOf(row)
	return row, from, to
}

// spanOf returns the first and last offset of a row.
func (a *Array) spanOf(row int64) (from, to int64) {
	volume := a.Shape[a.axis] * a.slice
	v, r := row/a.chunksAlong(a.axis), row%a.chunksAlong(a.axis)
	from = v*volume + r*a.Step()*a.slice
	return from, min(from+a.Step()*a.slice, (v+1)*volume)
}

// Fill fills dst with the bytes at an offset.
func (a *Array) Fill(dst []byte, at int64) error {
	for len(dst) > 0 {
		row, from, to := a.rowAt(at)
		n := min(int64(len(dst)), to-at)
		var err error
		if at == from && at+n == to && !a.isCached(row) {
			err = a.readRow(dst[:n], row, from)
		} else {
			err = a.fromRow(dst[:n], row, from, to, at)
		}
		if err != nil {
			return err
		}
		dst, at = dst[n:], at+n
	}
	return nil
}

// isCached reports whether a row is in memory or being read.
func (a *Array) isCached(row int64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.rows[row] != nil || a.closed
}

// keptBytes is the memory for short rows in bytes.
const keptBytes = 128 << 20

// fromRow copies a part of a row. The first caller for a row reads its chunks.
func (a *Array) fromRow(dst []byte, row, from, to, at int64) error {
	a.mu.Lock()
	if a.closed {
		a.mu.Unlock()
		return fs.ErrClosed
	}
	r, first := a.rows[row], false
	if r == nil {
		if a.rows == nil {
			a.rows = map[int64]*chunkRow{}
		}
		r, first = &chunkRow{done: make(chan struct{})}, true
		a.makeRoom()
		a.rows[row] = r
	}
	a.used++
	r.users, r.last = r.users+1, a.used
	a.mu.Unlock()
	if first {
		r.err = fs.ErrClosed // if the read ends without returning
		func() {
			defer close(r.done)
			r.chunks, r.err = a.loadRow(row, from, to-from)
		}()
	}
	<-r.done
	err := r.err
	if err == nil {
		err = a.copyFrom(dst, r, at)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	r.users--
	r.given += int64(len(dst))
	if a.rows[row] == r && (err != nil || r.given >= to-from) {
		a.forget(row)
	}
	return err
}

// spared returns the memory of a dropped chunk for reuse, or nil.
func (a *Array) spared() []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	last := len(a.spare) - 1
	if last < 0 {
		return nil
	}
	b := a.spare[last]
	a.spare = a.spare[:last]
	return b
}

// forget drops a row. Its memory is reused if nobody reads the row.
func (a *Array) forget(row int64) {
	if r := a.rows[row]; r.users == 0 && len(a.spare) == 0 {
		a.spare = slices.DeleteFunc(r.chunks, func(c []byte) bool { return c == nil })
	}
	delete(a.rows, row)
}

// makeRoom drops unused rows, the least recently used first.
func (a *Array) makeRoom() {
	for int64(len(a.rows)) >= max(rowsKept, keptBytes/a.rowBytes()) {
		oldest := int64(-1)
		for row, r := range a.rows {
			if r.users == 0 && (oldest < 0 || r.last < a.rows[oldest].last) {
				oldest = row
			}
		}
		if oldest < 0 {
			return
		}
		a.forget(oldest)
	}
}

// A chunkBox is a part of a row: its begin, its length and its number of chunks along each axis.
type chunkBox struct{ origin, extent, count []int64 }

// box returns a box of whole elements at the beginning of up to n bytes of a row, and its size in
// bytes. It has whole steps of the rows' axis if possible, else of a later axis.
func (a *Array) box(from, n int64) (b chunkBox, bytes int64) {
	k, strides := len(a.Shape), stridesOf(a.Shape, a.Stored.Size())
	axis := a.axis
	for axis < k-1 && (from%strides[axis] != 0 || n < strides[axis]) {
		axis++
	}
	b = chunkBox{make([]int64, k), make([]int64, k), make([]int64, k)}
	rest := from / strides[axis]
	for i := axis; i >= 0; i-- {
		b.origin[i], b.extent[i], b.count[i] = rest%a.Shape[i], 1, 1
		rest /= a.Shape[i]
	}
	b.extent[axis] = min(n/strides[axis], a.Shape[axis]-b.origin[axis])
	b.count[axis] = (b.origin[axis]+b.extent[axis]-1)/a.chunk[axis] - b.origin[axis]/a.chunk[axis] + 1
	for i := axis + 1; i < k; i++ {
		b.extent[i], b.count[i] = a.Shape[i], a.chunksAlong(i)
	}
	return b, b.extent[axis] * strides[axis]
}

// number returns the number of a chunk in its row.
func (a *Array) number(place []int64) int64 {
	n := int64(0)
	for i := a.axis + 1; i < len(place); i++ {
		n = n*a.chunksAlong(i) + place[i]
	}
	return n
}

// chunksAlong returns the number of chunks along an axis.
func (a *Array) chunksAlong(axis int) int64 {
	return (a.Shape[axis] + a.chunk[axis] - 1) / a.chunk[axis]
}

// each calls do with a placer for each chunk of a box, on at most the given number of goroutines.
func (a *Array) each(b chunkBox, workers int64, do func(c *chunkPlacer) error) error {
	tasks := int(grid.Product(b.count))
	return crew.Work(min(int(workers), tasks), tasks, func(_ int, next func() (int, bool)) error {
		c := a.placer()
		defer a.release(c)
		for t, ok := next(); ok; t, ok = next() {
			rest := int64(t)
			for i := len(c.place) - 1; i >= 0; i-- {
				c.place[i] = b.origin[i]/a.chunk[i] + rest%b.count[i]
				rest /= b.count[i]
			}
			if err := do(c); err != nil {
				return err
			}
		}
		return nil
	})
}

// readRow reads the row that begins at a byte to dst.
func (a *Array) readRow(dst []byte, row, from int64) error {
	b, _ := a.box(from, int64(len(dst)))
	return a.readChunks(row, b, func(c *chunkPlacer, data []byte) { c.copyTo(dst, b, data) })
}

// loadRow returns the chunks of n bytes of a row; a missing chunk is nil.
func (a *Array) loadRow(row, from, n int64) ([][]byte, error) {
	b, _ := a.box(from, n)
	chunks := make([][]byte, grid.Product(b.count))
	return chunks, a.readChunks(row, b, func(c *chunkPlacer, data []byte) {
		if data != nil {
			chunks[a.number(c.place)] = data
			c.give()
		}
	})
}

// copiedAlone is the size up to which one core copies about as fast as several.
const copiedAlone = 4 << 20

// copyFrom fills dst with the bytes from an offset of a row in memory.
func (a *Array) copyFrom(dst []byte, r *chunkRow, at int64) error {
	workers := int64(1)
	if len(dst) > copiedAlone {
		workers = int64(runtime.GOMAXPROCS(0))
	}
	for len(dst) > 0 {
		b, n := a.box(at, int64(len(dst)))
		if n == 0 {
			return fmt.Errorf("%d bytes at %d are no whole elements", len(dst), at)
		}
		if err := a.each(b, workers, func(c *chunkPlacer) error {
			c.copyTo(dst, b, r.chunks[a.number(c.place)])
			return nil
		}); err != nil {
			return err
		}
		dst, at = dst[n:], at+n
	}
	return nil
}

// stridesOf returns the bytes from one element to the next along each axis.
func stridesOf(shape []int64, size int64) []int64 {
	strides := make([]int64, len(shape))
	for i := len(shape) - 1; i >= 0; i-- {
		strides[i] = size
		size *= shape[i]
	}
	return strides
}

// A chunkPlacer reads chunks in sequence with its own buffers.
type chunkPlacer struct {
	a       *Array
	place   []int64 // of the chunk, in chunks
	key     string  // of its object
	is      storage.FileInfo
	packed  []byte
	buffers [2][]byte
}

// placer returns an unused placer.
func (a *Array) placer() *chunkPlacer {
	a.mu.Lock()
	defer a.mu.Unlock()
	if last := len(a.placers) - 1; last >= 0 {
		c := a.placers[last]
		a.placers = a.placers[:last]
		return c
	}
	return &chunkPlacer{a: a, place: make([]int64, len(a.Shape))}
}

// release makes a placer available again.
func (a *Array) release(c *chunkPlacer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closed {
		a.placers = append(a.placers, c)
	}
}

// load reads and decodes the chunk; a missing chunk is nil. The memory belongs to the placer, until
// the next load or give.
func (c *chunkPlacer) load() ([]byte, error) {
	err := c.fetch()
	if errors.Is(err, fs.ErrNotExist) && c.a.strict {
		return nil, fmt.Errorf("chunk %s is missing; write it again, or leave strict out to read the fill value %s there",
			c.key, c.a.fillText)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("chunk %s: %w", c.key, storage.Cause(err))
	}
	data, err := c.a.coding.decode(c.packed, c.a.chunkBytes(), &c.buffers)
	if err != nil {
		return nil, fmt.Errorf("chunk %s: %w; write it again", c.key, err)
	}
	return data, nil
}

// give hands the memory of the last chunk to the caller.
func (c *chunkPlacer) give() {
	if steps := len(c.a.coding.steps); steps > 0 {
		c.buffers[(steps-1)%2] = c.a.spared()
		return
	}
	c.packed = c.a.spared()
}

// copyTo copies the intersection of a chunk and a box to the box.
func (c *chunkPlacer) copyTo(dst []byte, b chunkBox, data []byte) {
	a := c.a
	k, size := len(a.Shape), a.Stored.Size()
	strides := stridesOf(b.extent, size)
	within, to, n := make([]int64, k), int64(0), make([]int64, k)
	for i := range k {
		lo := max(b.origin[i], c.place[i]*a.chunk[i])
		hi := min(b.origin[i]+b.extent[i], (c.place[i]+1)*a.chunk[i], a.Shape[i])
		within[i], n[i] = lo-c.place[i]*a.chunk[i], hi-lo
		to += (lo - b.origin[i]) * strides[i]
	}
	if data == nil {
		fillBox(dst[to:], strides, n, a.fill)
		return
	}
	// The strides of the chunk's axes in its own order.
	lengths, places := make([]int64, k), make([]int64, k)
	for i, axis := range a.coding.order {
		lengths[i] = a.chunk[axis]
	}
	for i, stride := range stridesOf(lengths, size) {
		places[a.coding.order[i]] = stride
	}
	start := int64(0)
	for i := range k {
		start += within[i] * places[i]
	}
	copyBox(dst[to:], data[start:], strides, places, n, size)
}

// fetch reads the encoded bytes of the chunk.
func (c *chunkPlacer) fetch() (err error) {
	a := c.a
	most := encodedMost(a.chunkBytes())
	number := c.find()
	if a.present == 0 { // the listing of the folder showed no objects
		return fs.ErrNotExist
	}
	if a.shards == nil {
		c.packed, c.is, err = a.store.Whole(c.key, most, c.packed)
		return err
	}
	index := a.index(c.key)
	if c.is = index.is; index.err != nil {
		return index.err
	}
	at, n := index.places[2*number], index.places[2*number+1]
	if at == math.MaxUint64 && n == math.MaxUint64 {
		return fs.ErrNotExist
	}
	if at > math.MaxInt64/2 || n > uint64(most) {
		return fmt.Errorf("its index states %d bytes at %d of one of its chunks; it is damaged", n, at)
	}
	c.packed = storage.Extend(c.packed[:0], int64(n), int64(n))
	_, err = a.store.Part(c.key, c.packed, int64(at), c.is)
	return err
}

// find sets the key of the chunk's object. It returns the chunk's number in a shard.
func (c *chunkPlacer) find() (number int64) {
	if c.a.shards == nil {
		c.key = c.a.key(c.place)
		return 0
	}
	shard := make([]int64, len(c.place))
	for i, p := range c.place {
		each := c.a.shards.each[i]
		shard[i] = p / each
		number = number*each + p%each
	}
	c.key = c.a.key(shard)
	return number
}

// indexBytes is the memory for indices of shards in bytes.
const indexBytes = 64 << 20

// index reads the index of a shard once.
func (a *Array) index(key string) *shardIndex {
	chunks := grid.Product(a.shards.each)
	a.mu.Lock()
	if a.indices == nil || int64(len(a.indices)) > max(1024, indexBytes/(16*chunks)) {
		a.indices = map[string]*shardIndex{}
	}
	x := a.indices[key]
	if x == nil {
		x = &shardIndex{}
		a.indices[key] = x
	}
	a.mu.Unlock()
	x.once.Do(func() { x.places, x.is, x.err = a.readIndex(key, chunks) })
	return x
}

func (a *Array) readIndex(key string, chunks int64) (places []uint64, is storage.FileInfo, err error) {
	n := 16 * chunks
	size := n + 4*int64(len(a.shards.coding.steps)) // the codecs of an index have a fixed length
	packed, at := make([]byte, size), -size
	if a.shards.first {
		at = 0
	}
	if is, err = a.store.Part(key, packed, at, is); err != nil {
		return nil, is, err
	}
	data, err := a.shards.coding.decode(packed, n, new([2][]byte))
	if err != nil {
		return nil, is, fmt.Errorf("its index: %w", err)
	}
	var order binary.ByteOrder = binary.LittleEndian
	if a.shards.coding.big {
		order = binary.BigEndian
	}
	places = make([]uint64, 2*chunks)
	for i := range places {
		places[i] = order.Uint64(data[8*i:])
	}
	return places, is, nil
}

// key returns the name of a chunk's object.
func (a *Array) key(place []int64) string {
	var name strings.Builder
	name.WriteString(a.prefix)
	for i, p := range place {
		if i > 0 || a.prefix != "" {
			name.WriteString(a.separator)
		}
		name.WriteString(strconv.FormatInt(p, 10))
	}
	return path.Join(a.at, name.String())
}

// fillBox sets all elements of a box to a value.
func fillBox(dst []byte, strides, n []int64, value []byte) {
	if len(n) == 1 {
		row := dst[:n[0]*int64(len(value))]
		for have := copy(row, value); have < len(row); have *= 2 {
			copy(row[have:], row[:have])
		}
		return
	}
	for i := range n[0] {
		fillBox(dst[i*strides[0]:], strides[1:], n[1:], value)
	}
}

// copyBox copies the elements of a box between two layouts with different strides. The last stride
// is one element.
func copyBox(dst, src []byte, to, from, n []int64, size int64) {
	last := len(n) - 1
	// Adjacent axes that are contiguous in both layouts are merged.
	for last > 0 && from[last] == size && to[last-1] == n[last]*to[last] && from[last-1] == n[last]*from[last] {
		n = append(append([]int64{}, n[:last-1]...), n[last-1]*n[last])
		to = append(append([]int64{}, to[:last-1]...), size)
		from = append(append([]int64{}, from[:last-1]...), size)
		last--
	}
	copyRows(dst, src, to, from, n, size)
}

func copyRows(dst, src []byte, to, from, n []int64, size int64) {
	if len(n) == 2 && from[1] == size { // the most frequent case
		row := n[1] * size
		for i, d, s := int64(0), int64(0), int64(0); i < n[0]; i, d, s = i+1, d+to[0], s+from[0] {
			copy(dst[d:d+row], src[s:s+row])
		}
		return
	}
	if len(n) > 1 {
		for i := range n[0] {
			copyRows(dst[i*to[0]:], src[i*from[0]:], to[1:], from[1:], n[1:], size)
		}
		return
	}
	if from[0] == size {
		copy(dst[:n[0]*size], src)
		return
	}
	for i := range n[0] {
		copy(dst[i*size:][:size], src[i*from[0]:])
	}
}
