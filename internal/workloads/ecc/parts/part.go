// Package parts writes and merges part files. A part contains the contribution of some slices of an
// image to its Euler characteristic curve; processes that make parts do not communicate.
// doc/guide/cluster.md explains the law, and doc/files.md the format. The package also stores parts
// of Betti numbers, whose extra bytes it copies unread. The commands with --shard and merge use it.
package parts

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"math"
	"os"
	"slices"
	"strings"

	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/regular"
	"eccbench/internal/shard"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/fingerprint"
)

// Extension is the extension of a part file.
const Extension = ".part"

// FileName returns the default file name for a shard's part.
func FileName(s shard.Shard) string { return fmt.Sprintf("%d-of-%d%s", s.I, s.N, Extension) }

// A Head is the description at the start of a part, in JSON.
type Head struct {
	// Provenance is that of the curve, without verdict, witness and digest.
	ecc.Provenance
	// Source is a digest of the image's name, shape and type, and of the sizes and times of its
	// files.
	Source string `json:"source"`
	// Counted describes the image that was counted: a masked image is counted as float32.
	Counted struct {
		Type   string `json:"type"`
		Ladder string `json:"ladder"` // grid.Ladder.Key
	} `json:"counted"`
	Vertices   bool `json:"vertices,omitempty"`
	Superlevel bool `json:"superlevel,omitempty"`
	Masked     bool `json:"masked,omitempty"`
	// Shard, of Shards, has slices First ≤ i < End.
	Shard  int64 `json:"shard"`
	Shards int64 `json:"shards"`
	First  int64 `json:"first"`
	End    int64 `json:"end"`
	// Step is the number of slices that are read together. Shards do not divide them. 0 means one.
	Step int64 `json:"step,omitempty"`
	// Key is the key of the fingerprint, and Fingerprint the slices' share of the image's
	// fingerprint.
	Key         string `json:"key"`
	Fingerprint string `json:"fingerprint"`
	Changes     int64  `json:"changes"` // number of changes that follow
	Bytes       int64  `json:"bytes"`   // their size in bytes
	Unhashed    bool   `json:"unhashed,omitempty"`
	// Values describes the slices' values, if the part has nothing else.
	Values *Values `json:"values,omitempty"`
	// Table is the number of values after the head: the levels of a table ladder or, with Values,
	// the distinct values.
	Table int64 `json:"table,omitempty"`
	// At lists the thresholds, if the part is of Betti numbers instead of a curve. The counted
	// image then has, for each voxel, the number of sets without it, in the order in which sets
	// grow. Above selects superlevel sets. Components is the size of each set's components in
	// bytes, in the same order; it is empty for a shard without slices.
	At         []grid.Number `json:"at,omitempty"`
	Above      bool          `json:"above,omitempty"`
	Components []int64       `json:"components,omitempty"`
	// Command makes the part; it lacks only the flags for the shard and the file.
	Command string `json:"command"`
}

// Values describes the values of some slices: the number of voxels and the range, if there are any
// voxels.
type Values struct {
	Voxels   int64   `json:"voxels"`
	Least    float32 `json:"least"`
	Greatest float32 `json:"greatest"`
	// Most is the maximum number of distinct values, if they are listed; else 0.
	Most int64 `json:"most,omitempty"`
}

// A Part is the contribution of the slices of a shard to a curve.
type Part struct {
	Head
	Steps ecc.VCEC // of a part that was not read from a file
	// Chunks yields the steps if they may not fit in memory; else it is nil and Steps has them.
	// Each chunk is ascending, and chunks come in the order in which sets grow.
	Chunks iter.Seq2[ecc.VCEC, error]
	// Hashes are the hashes of the part's slices and of the slice before them, if any. The image's
	// first slice follows if the part closes a ring. There are none if the image repeats.
	Hashes []grid.SliceHash
	// Slabs are the bytes of the components, for a part that was not read from a file.
	Slabs [][]byte
	// Listed are the values of the table, ascending.
	Listed []float32

	path  string            // of the file it was read from
	file  *os.File          // for a file without a path
	size  int64             // of everything before the steps
	start [sha256.Size]byte // digest of these bytes
	shape grid.Shape
	typ   grid.Type
	lad   grid.Ladder
	in    ecc.Convention
	key   fingerprint.Key
	sum   fingerprint.Sum
}

// magic starts a part. Its number changes when fingerprints for a key change.
const magic = "eccbench part 3\n"

// former lists the beginnings of older parts, whose fingerprints are incompatible.
var former = []string{"eccbench part 1\n", "eccbench part 2\n"}

// mostHead is the maximum length of a head.
const mostHead = 1 << 20

// mostKept is the number of bytes of encoded changes that are kept between the two passes.
const mostKept = 1 << 25

// HashedSlices yields the slices to which the hashes of a part belong, in order.
func HashedSlices(of grid.Span, slices int64, closed bool) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for i := of.Lo; i < of.Hi; i++ {
			if !yield(i) {
				return
			}
		}
		if of.Len() > 0 && of.Lo > 0 && !yield(of.Lo-1) {
			return
		}
		if closesRing(of, slices, closed) {
			yield(0)
		}
	}
}

// closesRing reports whether a span ends a ring of slices without containing its first slice.
func closesRing(of grid.Span, slices int64, closed bool) bool {
	return closed && of.Len() > 0 && of.Hi == slices && of.Lo > 1
}

// readOnce yields steps that are all in memory.
func readOnce(steps ecc.VCEC) iter.Seq2[ecc.VCEC, error] {
	return func(yield func(ecc.VCEC, error) bool) { yield(steps, nil) }
}

// Write writes a part. It sets the fields of the head that depend on the steps.
func (p *Part) Write(w io.Writer, levels int64) error { return p.write(w, levels, mostKept) }

// write is Write with a limit for the bytes of changes that are kept while they are counted.
func (p *Part) write(w io.Writer, levels, most int64) error {
	var kept []byte // avoids a second encoding
	p.Changes, p.Bytes, p.Components, p.Table = 0, 0, nil, int64(len(p.Listed))
	for _, s := range p.Slabs {
		p.Components = append(p.Components, int64(len(s)))
	}
	if err := p.eachChange(levels, func(b []byte) error {
		p.Changes, p.Bytes = p.Changes+1, p.Bytes+int64(len(b))
		if p.Bytes <= most {
			kept = append(kept, b...)
		}
		return nil
	}); err != nil {
		return err
	}
	head, err := json.Marshal(p.Head)
	if err != nil {
		return err
	}
	if len(head) > mostHead {
		return fmt.Errorf("a head of %d bytes; the limit is %d; give the input a shorter name", len(head), mostHead)
	}
	sum := sha256.New()
	to := bufio.NewWriter(io.MultiWriter(w, sum))
	to.WriteString(magic) // Flush returns the first error
	to.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(head))))
	to.Write(head)
	to.Write(grid.Bytes(p.Listed))
	for _, h := range p.Hashes {
		to.Write(h[:])
	}
	if p.Bytes <= most {
		to.Write(kept)
	} else if err := p.eachChange(levels, func(b []byte) error { _, err := to.Write(b); return err }); err != nil {
		return err
	}
	for _, s := range p.Slabs {
		to.Write(s)
	}
	if err := to.Flush(); err != nil {
		return err
	}
	_, err = w.Write(sum.Sum(nil))
	return err
}

// eachChange encodes the changes in the order in which sets grow.
func (p *Part) eachChange(levels int64, put func([]byte) error) error {
	var b []byte
	chunks, last := p.Chunks, int64(0)
	if chunks == nil {
		chunks = readOnce(p.Steps)
	}
	for steps, err := range chunks {
		if err != nil {
			return err
		}
		for i := range steps {
			s := steps[i]
			if p.Superlevel {
				s = steps[len(steps)-1-i]
			}
			at := place(s.Level, levels, p.Superlevel)
			b = binary.AppendVarint(binary.AppendUvarint(b[:0], uint64(at-last)), s.Change)
			last = at
			if err := put(b); err != nil {
				return err
			}
		}
	}
	return nil
}

// place returns the position of a level in the order in which sets grow. It is its own inverse.
func place(level, levels int64, superlevel bool) int64 {
	if superlevel {
		return levels - 1 - level
	}
	return level
}

// ErrTorn reports that a part is damaged or incomplete.
var ErrTorn = errors.New("torn")

func torn(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrTorn, fmt.Sprintf(format, args...))
}

// Open reads a part up to its steps. A damaged part is an ErrTorn.
func Open(path string) (*Part, error) {
	f, info, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only
	p, err := read(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	p.path = path
	return p, nil
}

// readHead reads the head and the table of a part of the given size. It also returns their bytes.
func readHead(r io.Reader, size int64) (p *Part, raw []byte, err error) {
	start := make([]byte, len(magic)+4)
	n, err := io.ReadFull(r, start)
	if slices.ContainsFunc(former, func(f string) bool { return strings.HasPrefix(string(start[:n]), f) }) {
		return nil, nil, errors.New("a part of an earlier version, whose fingerprints are others: count it again")
	}
	if !bytes.HasPrefix([]byte(magic), start[:min(n, len(magic))]) {
		return nil, nil, errors.New("not a part, which curve, betti and levels --shard write")
	}
	if err != nil {
		return nil, nil, torn("it ends after %d bytes", n)
	}
	length := int64(binary.LittleEndian.Uint32(start[len(magic):]))
	if length > mostHead {
		return nil, nil, torn("a head of %d bytes; the limit is %d", length, mostHead)
	}
	p = &Part{}
	raw = append(start, make([]byte, length)...)
	if _, err := io.ReadFull(r, raw[len(start):]); err != nil {
		return nil, nil, torn("it ends in its head")
	}
	if err := json.Unmarshal(raw[len(start):], &p.Head); err != nil {
		return nil, nil, torn("its head: %v", err)
	}
	if p.Table < 0 || p.Table > MostTable || p.Table > size {
		return nil, nil, torn("a table of %d values in a file of %d bytes", p.Table, size)
	}
	p.Listed = make([]float32, p.Table)
	if _, err := io.ReadFull(r, grid.Bytes(p.Listed)); err != nil {
		return nil, nil, torn("it ends in its table")
	}
	raw = append(raw, grid.Bytes(p.Listed)...)
	if err := p.parse(); err != nil {
		return nil, nil, torn("its head: %v", err)
	}
	return p, raw, nil
}

// read reads a part of the given size up to its steps.
func read(r io.Reader, size int64) (*Part, error) {
	p, raw, err := readHead(r, size)
	if err != nil {
		return nil, err
	}
	after := int64(0)
	for _, n := range p.Components {
		if n < 0 || n > size-after {
			return nil, torn("%d bytes of components in a file of %d", n, size)
		}
		after += n
	}
	if p.Span().Len() > size || p.Bytes > size {
		return nil, torn("%d slices and %d bytes of changes in a file of %d", p.Span().Len(), p.Bytes, size)
	}
	if !p.Unhashed {
		for range HashedSlices(p.Span(), p.shape.Slices(), p.closed()) {
			p.Hashes = append(p.Hashes, grid.SliceHash{})
		}
	}
	if want := int64(len(raw)+len(p.Hashes)*len(grid.SliceHash{})) + p.Bytes + after + sha256.Size; size != want {
		return nil, torn("it has %d bytes of %d", size, want)
	}
	for i := range p.Hashes {
		if _, err := io.ReadFull(r, p.Hashes[i][:]); err != nil {
			return nil, torn("it ends in its hashes")
		}
		raw = append(raw, p.Hashes[i][:]...)
	}
	p.size, p.start = int64(len(raw)), sha256.Sum256(raw)
	return p, nil
}

// parse parses the text fields of the head, and rejects impossible values.
func (p *Part) parse() (err error) {
	if p.shape, err = grid.ParseShape(p.Shape); err != nil {
		return err
	}
	if p.typ, err = grid.ParseType(p.Counted.Type); err != nil {
		return err
	}
	if _, err := grid.ParseType(p.Type); err != nil && len(p.At) > 0 {
		return err
	}
	var listed grid.Ladder
	if p.Table > 0 {
		if listed, err = grid.Table(p.Listed); err != nil {
			return err
		}
	}
	if p.Table > 0 && p.Values == nil {
		p.lad = listed
		if p.lad.Key() != p.Counted.Ladder || p.typ != grid.Float32 {
			return fmt.Errorf("the ladder %s of %v, with a table %s", p.Counted.Ladder, p.typ, p.lad.Key())
		}
	} else if p.lad, err = grid.ParseLadder(p.Counted.Ladder, p.typ); err != nil {
		return err
	}
	if p.key, err = fingerprint.ParseKey(p.Key); err != nil {
		return err
	}
	if p.sum, err = fingerprint.ParseSum(p.Fingerprint); err != nil {
		return err
	}
	p.in = ecc.Convention{Vertices: p.Vertices, Superlevel: p.Superlevel, Masked: p.Masked}
	if p.in.Periodic, err = grid.ParseAxes(axes(p.Periodic)); err != nil {
		return err
	}
	p.key = p.key.WithConvention(p.in).ForLevels(p.lad.Len())
	switch {
	case p.Shards < 1 || p.Shards > shard.MaxShards || p.Shard < 1 || p.Shard > p.Shards:
		return fmt.Errorf("shard %d of %d", p.Shard, p.Shards)
	case p.Step < 0 || p.Step > p.shape.Slices():
		return fmt.Errorf("steps of %d slices, of %d", p.Step, p.shape.Slices())
	case p.Span() != p.Which().SpanBy(p.shape.Slices(), max(1, p.Step)):
		return fmt.Errorf("shard %v has %v of %d", p.Which(), p.Span(), p.shape.Slices())
	case len(p.sum) != p.key.Functions():
		return fmt.Errorf("a fingerprint of %d functions, and a key of %d", len(p.sum), p.key.Functions())
	case len(p.Components) > 0 && len(p.Components) != len(p.At) || p.Span().Len() > 0 && len(p.Components) != len(p.At):
		return fmt.Errorf("components of %d sets, of %d", len(p.Components), len(p.At))
	case len(p.At) > 0 && p.lad.Len() != int64(len(p.At))+1:
		return fmt.Errorf("a ladder of %d levels, of %d sets", p.lad.Len(), len(p.At))
	case p.Values != nil && p.Table > p.Values.Most:
		return fmt.Errorf("%d distinct values, of %d at most", p.Table, p.Values.Most)
	case p.Values != nil && (p.Changes > 0 || p.Values.Voxels != p.Span().Len()*p.shape.SliceVoxels()):
		return fmt.Errorf("values of %d voxels", p.Values.Voxels)
	case p.Changes < 0 || p.Changes > p.lad.Len() || p.Bytes < 2*p.Changes || p.Bytes > 2*binary.MaxVarintLen64*p.Changes:
		return fmt.Errorf("%d changes in %d bytes", p.Changes, p.Bytes)
	}
	return nil
}

// axes returns the letters of grid.Axes.String.
func axes(s string) (letters []string) {
	for _, l := range bytes.Split([]byte(s), []byte(",")) {
		if len(l) > 0 {
			letters = append(letters, string(l))
		}
	}
	return letters
}

// Has describes the content of a part in a few words.
func (h Head) Has() string {
	switch {
	case h.Values != nil && h.Values.Voxels == 0:
		return "no values"
	case h.Values != nil && h.Values.Most > 0:
		return fmt.Sprintf("%d distinct values from %v to %v", h.Table, h.Values.Least, h.Values.Greatest)
	case h.Values != nil:
		return fmt.Sprintf("values from %v to %v", h.Values.Least, h.Values.Greatest)
	case len(h.At) == 0:
		return quantity.Count(h.Changes, "change")
	}
	return fmt.Sprintf("components of the sets at %s", strings.ReplaceAll(list(h.At), " ", ", "))
}

// Which returns the part's shard.
func (h Head) Which() shard.Shard { return shard.Shard{I: h.Shard, N: h.Shards} }

// Span returns the part's slices.
func (h Head) Span() grid.Span { return grid.Span{Lo: h.First, Hi: h.End} }

// closed reports whether the slice axis is periodic.
func (p *Part) closed() bool { return p.in.Periodic.Slices(p.shape) }

// A cursor reads the steps of a part in the order in which its sets grow.
type cursor struct {
	p     *Part
	f     io.Reader
	shut  func() error
	hash  hash.Hash
	tee   io.Reader
	left  int64 // bytes of steps that are not in buf yet
	buf   []byte
	at    int // offset in buf
	steps int64
	place int64
}

// cursorBytes is the size of a read from a part.
const cursorBytes = 1 << 16

// open starts reading the part's steps. It checks that the beginning of the file has not changed.
func (p *Part) open() (*cursor, error) {
	c := &cursor{p: p, f: io.NewSectionReader(p.file, 0, math.MaxInt64), shut: func() error { return nil },
		hash: sha256.New(), left: p.Bytes, buf: make([]byte, 0, cursorBytes)}
	if p.file == nil {
		f, _, err := regular.Open(p.path)
		if err != nil {
			return nil, err
		}
		c.f, c.shut = f, f.Close
	}
	c.tee = io.TeeReader(c.f, c.hash)
	again := make([]byte, p.size)
	if _, err := io.ReadFull(c.tee, again); err != nil || sha256.Sum256(again) != p.start {
		c.close()
		return nil, fmt.Errorf("%s: %w", p.path, torn("it has changed since it was looked at"))
	}
	return c, nil
}

// next reads steps, whose levels are places, and returns their number. At the end it returns 0 and
// checks the checksum.
func (c *cursor) next(steps []ecc.Step) (n int, err error) {
	for ; n < len(steps) && c.steps < c.p.Changes; n++ {
		if len(c.buf)-c.at < 2*binary.MaxVarintLen64 && c.left > 0 {
			if err := c.fill(); err != nil {
				return n, err
			}
		}
		// If a number is malformed, the change is 0, which is invalid.
		by, k := binary.Uvarint(c.buf[c.at:])
		change, m := binary.Varint(c.buf[c.at+max(k, 0):])
		if change == 0 || by == 0 && c.steps > 0 || by >= uint64(c.p.lad.Len()-c.place) {
			return n, c.torn("change %d", c.steps)
		}
		c.at += k + m
		c.place += int64(by)
		c.steps++
		steps[n] = ecc.Step{Level: c.place, Change: change}
	}
	if n == 0 {
		for _, n := range c.p.Components {
			if _, err := io.CopyN(c.hash, c.f, n); err != nil {
				return 0, c.torn("it ends in its components")
			}
		}
		return 0, c.end()
	}
	return n, nil
}

// components reads the bytes of each set's components, after the steps, and checks the checksum.
func (p *Part) components() (list [][]byte, err error) {
	c, err := p.open()
	if err != nil {
		return nil, err
	}
	defer c.close()
	if _, err := io.CopyN(c.hash, c.f, p.Bytes); err != nil {
		return nil, c.torn("it ends in its changes")
	}
	for _, n := range p.Components {
		b := make([]byte, n) // the size was checked against the file's
		if _, err := io.ReadFull(c.tee, b); err != nil {
			return nil, c.torn("it ends in its components")
		}
		list = append(list, b)
	}
	c.left = 0
	return list, c.end()
}

// fill reads more steps into the buffer.
func (c *cursor) fill() error {
	n := copy(c.buf[:cap(c.buf)], c.buf[c.at:])
	more := min(c.left, int64(cap(c.buf)-n))
	c.buf, c.at = c.buf[:n+int(more)], 0
	if _, err := io.ReadFull(c.tee, c.buf[n:]); err != nil {
		return c.torn("it ends in its changes")
	}
	c.left -= more
	return nil
}

// end compares the checksum.
func (c *cursor) end() error {
	if c.at < len(c.buf) || c.left > 0 {
		return c.torn("more bytes than changes")
	}
	got := make([]byte, sha256.Size)
	if _, err := io.ReadFull(c.f, got); err != nil || !bytes.Equal(got, c.hash.Sum(nil)) {
		return c.torn("its checksum is that of other bytes")
	}
	return nil
}

func (c *cursor) torn(format string, args ...any) error {
	return &TornError{c.p, fmt.Errorf("%s: %w", c.p.path, torn(format, args...))}
}

// A TornError names the damaged part.
type TornError struct {
	Part *Part
	error
}

// Unwrap returns the reason.
func (e *TornError) Unwrap() error { return e.error }

func (c *cursor) close() { c.shut() } // read only
