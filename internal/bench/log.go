package bench

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/klauspost/compress/zstd"

	"eccbench/internal/regular"
)

// Records is what a results file holds: the runs, and the cells in the order
// they ended.
type Records struct {
	Runs  []RunRecord
	Cells []CellRecord
	// Cut is the length of a last line that was cut short and passed over.
	Cut int64
}

// ReadRecords reads a results file: one JSON record a line. A last line that
// was cut short, as a killed run leaves it, is passed over; any other line that
// is no record of this schema is an error that names the line. The file may be compressed
// by Zstandard.
func ReadRecords(r io.Reader) (Records, error) {
	plain, err := Decompress(r)
	if err != nil {
		return Records{}, err
	}
	defer plain.Close()
	recs, _, _, err := readRecords(plain)
	return recs, err
}

// zstdMagic is what a frame of Zstandard begins with (RFC 8878, section 3.1.1).
const zstdMagic = "\x28\xb5\x2f\xfd"

// longestLine is far above the length of a record.
const longestLine = 64 << 20

// MostBytes is far above the size of a results file.
const MostBytes = 1 << 30

// Decompress is the bytes of a results file, whether it is compressed or not. Closing it
// does not close r. More than 1 GiB is an error.
func Decompress(r io.Reader) (io.ReadCloser, error) { return decompress(r, MostBytes) }

func decompress(r io.Reader, most int64) (io.ReadCloser, error) {
	in := bufio.NewReader(r)
	if start, _ := in.Peek(len(zstdMagic)); string(start) != zstdMagic { // an error comes again
		return &bounded{io.NopCloser(in), most, most}, nil
	}
	d, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
	if err != nil {
		return nil, fmt.Errorf("decompressing: %w", err)
	}
	return &bounded{d.IOReadCloser(), most, most}, nil
}

// A bounded reader fails behind so many bytes.
type bounded struct {
	io.ReadCloser
	most, left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("more than %d bytes; a results file has fewer", b.most)
	}
	return n, err
}

// readLine reads a line with its end, which the last one may lack.
func readLine(in *bufio.Reader) (line []byte, err error) {
	for {
		piece, err := in.ReadSlice('\n')
		if line = append(line, piece...); len(line) > longestLine {
			return nil, fmt.Errorf("longer than %d bytes; this is no results file", longestLine)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// readRecords also returns the length of the whole lines, and the line that was cut
// short.
func readRecords(r io.Reader) (recs Records, whole int64, torn []byte, err error) {
	in := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := readLine(in)
		if errors.Is(err, io.EOF) {
			recs.Cut = int64(len(line))
			recs.supersede()
			return recs, whole, line, nil
		}
		if err != nil {
			return recs, whole, nil, fmt.Errorf("line %d: %w", n, err)
		}
		if len(bytes.TrimSpace(line)) > 0 {
			if err := recs.add(line); err != nil {
				return recs, whole, nil, fmt.Errorf("line %d: %w", n, err)
			}
		}
		whole += int64(len(line))
	}
}

func (r *Records) add(line []byte) error {
	var kind struct{ Schema, Kind string }
	if err := json.Unmarshal(line, &kind); err != nil {
		return fmt.Errorf("not a record: %w", err)
	}
	if kind.Schema != Schema {
		return fmt.Errorf("schema %q, want %q", kind.Schema, Schema)
	}
	switch kind.Kind {
	case KindRun:
		var run RunRecord
		if err := json.Unmarshal(line, &run); err != nil {
			return err
		}
		r.Runs = append(r.Runs, run)
	case KindCell:
		var cell CellRecord
		if err := json.Unmarshal(line, &cell); err != nil {
			return err
		}
		cell.fromFlags()
		cell.addUp()
		r.Cells = append(r.Cells, cell)
	default:
		return fmt.Errorf("kind %q, want %q or %q", kind.Kind, KindRun, KindCell)
	}
	return nil
}

// supersede removes cells that failed and were measured again by the same program on the same
// machine.
func (r *Records) supersede() {
	type place struct {
		key     CellKey
		station Station
	}
	stations, last := r.Stations(), map[place]int{}
	for i, c := range r.Cells {
		last[place{c.Key(), stations[c.Run]}] = i
	}
	i := -1
	r.Cells = slices.DeleteFunc(r.Cells, func(c CellRecord) bool {
		i++
		return c.Failed() && last[place{c.Key(), stations[c.Run]}] > i
	})
}

// fromFlags takes the instruction set and the state of the caches of a record that was
// written before records had fields for them from among the flags, where they stood
// then.
func (c *CellRecord) fromFlags() {
	c.Flags = slices.DeleteFunc(c.Flags, func(f string) bool {
		switch f {
		case "avx512", "avx2", "portable":
			if c.ISA != "" {
				return false
			}
			c.ISA = f
		case "hot":
			c.Hot = true
		default:
			return false
		}
		return true
	})
}

// addUp has no timeline of calls that began apart, which were recorded as one for a time:
// parts of one name overlap, which they do in no call. Their lengths are added, as Sum does.
func (c *CellRecord) addUp() {
	ends := map[string]float64{} // of what began before, of each name
	apart := false
	for _, i := range slices.SortedStableFunc(slices.Values(c.Timeline), func(a, b Interval) int { return cmp.Compare(a.From, b.From) }) {
		apart = apart || i.From < ends[i.Name]
		ends[i.Name] = max(ends[i.Name], i.To)
	}
	if !apart {
		return
	}
	if c.Spans == nil {
		c.Spans = map[string]float64{}
	}
	for _, i := range c.Timeline {
		c.Spans[i.Name] += i.To - i.From
	}
	c.Timeline = nil
}

// A Log is a results file that is being appended to, and locked meanwhile: no other
// program can write to it. Each record is one write that reaches the disk before Append
// returns.
type Log struct {
	f       *os.File
	regular bool // not a device such as /dev/stdout
}

// CreateLog starts a results file, which must not exist, or writes to a device.
func CreateLog(path string) (*Log, error) {
	if info, err := os.Stat(path); err == nil && info.Mode()&(fs.ModeDevice|fs.ModeNamedPipe) != 0 {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil, fmt.Errorf("results: %w", err)
		}
		return &Log{f: f}, nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%s exists: continue it with --resume, or name another file", path)
	}
	if err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	// One that continues the file that was just made may have it.
	if err := regular.Lock(f); err != nil && !errors.Is(err, regular.ErrNoLocks) {
		f.Close()
		return nil, fmt.Errorf("results %s: %w", path, err)
	}
	return &Log{f, true}, nil
}

// ResumeLog opens a results file to continue it, and returns what it holds. A
// torn last line is cut off. A file that does not exist is started. One that holds
// anything else than records, or that another program writes to, is left as it is.
func ResumeLog(path string) (*Log, Records, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, Records{}, fmt.Errorf("results: %s is not a regular file, so it cannot be continued", path)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		return nil, Records{}, fmt.Errorf("results: %w", err)
	}
	recs, err := resume(f)
	if err != nil {
		f.Close()
		return nil, Records{}, fmt.Errorf("results %s: %w", path, err)
	}
	return &Log{f, true}, recs, nil
}

func resume(f *os.File) (Records, error) {
	if err := regular.Lock(f); err != nil && !errors.Is(err, regular.ErrNoLocks) {
		return Records{}, err
	}
	recs, whole, torn, err := readRecords(f)
	if err != nil {
		return recs, err
	}
	if none := len(recs.Runs)+len(recs.Cells) == 0; none && whole > 0 || !isTorn(torn, none) {
		return recs, errors.New("not a results file of eccbench: it is left as it is")
	}
	if recs.Cut > 0 {
		return recs, f.Truncate(whole)
	}
	return recs, nil
}

// recordStart is what every record begins with.
const recordStart = `{"schema":"` + Schema + `",`

// isTorn reports whether the end of a file, after its last whole line, is nothing or the
// beginning of a record. After whole records it may also be the zeros that a file system
// leaves for what had not reached the disk.
func isTorn(end []byte, first bool) bool {
	n := min(len(end), len(recordStart))
	return string(end[:n]) == recordStart[:n] || !first && end[0] == 0
}

// Append writes a record. After an error, such as a full disk, the file ends
// with the last record that was written whole, or with a torn line that readers
// pass over.
func (l *Log) Append(record any) error {
	line, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("results: %w", err)
	}
	line = withSum(line)
	var before os.FileInfo
	if l.regular {
		if before, err = l.f.Stat(); err != nil {
			return fmt.Errorf("results: %w", err)
		}
	}
	_, err = l.f.Write(append(line, '\n'))
	if err == nil && l.regular {
		err = l.f.Sync()
	}
	if err == nil {
		return nil
	}
	err = fmt.Errorf("results: %w", err)
	if l.regular { // take back what was written of the record
		err = errors.Join(err, l.f.Truncate(before.Size()))
	}
	return err
}

// Close closes the file.
func (l *Log) Close() error {
	if err := l.f.Close(); err != nil {
		return fmt.Errorf("results: %w", err)
	}
	return nil
}
