package bench

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"eccbench/internal/name"
	"eccbench/internal/regular"
)

// Records is the content of a results file: runs, and cells in the order in which they ended.
type Records struct {
	Runs  []RunRecord
	Cells []CellRecord
	// Cut is the length of a truncated last line, which is ignored.
	Cut int64
	// Unsummed is the number of lines of Check if none of them has a sum.
	Unsummed int
}

// ReadRecords reads a results file, plain or compressed by Zstandard or gzip: one JSON record per line. It
// ignores a truncated last line, which a killed run leaves. Any other line that is not a record of
// this schema is an error, with its line number.
func ReadRecords(r io.Reader) (Records, error) {
	plain, err := Decompress(r)
	if err != nil {
		return Records{}, err
	}
	defer plain.Close()
	recs, _, _, err := readRecords(plain)
	return recs, err
}

// zstdMagic starts a Zstandard frame (RFC 8878, section 3.1.1), gzipMagic one of gzip (RFC 1952, section 2.3).
const zstdMagic, gzipMagic = "\x28\xb5\x2f\xfd", "\x1f\x8b"

// longestLine is far above the length of any record.
const longestLine = 64 << 20

// MostBytes is far above the size of any results file.
const MostBytes = 1 << 30

// Decompress returns the bytes of a results file, compressed or not. Closing the result does not
// close r. More than 1 GiB is an error.
func Decompress(r io.Reader) (io.ReadCloser, error) { return decompress(r, MostBytes) }

func decompress(r io.Reader, most int64) (io.ReadCloser, error) {
	in := bufio.NewReader(r)
	start, _ := in.Peek(len(zstdMagic)) // the read below reports the error again
	if strings.HasPrefix(string(start), gzipMagic) {
		d, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("decompressing: %w", err)
		}
		return &bounded{d, most, most}, nil
	}
	if string(start) != zstdMagic {
		return &bounded{io.NopCloser(in), most, most}, nil
	}
	d, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
	if err != nil {
		return nil, fmt.Errorf("decompressing: %w", err)
	}
	return &bounded{d.IOReadCloser(), most, most}, nil
}

// A bounded reader fails after the given number of bytes.
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

// readLine reads a line with its line end, which the last line may lack.
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

// readRecords also returns the length of the complete lines, and the truncated last line.
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
		if record := bytes.TrimSpace(line); len(record) > 0 {
			if err := recs.addUnedited(record); err != nil {
				return recs, whole, nil, fmt.Errorf("line %d: %w", n, err)
			}
		}
		whole += int64(len(line))
	}
}

// addUnedited adds a record. An edited one is an error. One from before records had sums is an error if
// its figures or its verdict contradict its samples or its evidence.
func (r *Records) addUnedited(line []byte) error {
	cells := len(r.Cells)
	if err := r.add(line); err != nil {
		return err
	}
	_, err := withoutSum(line)
	if !errors.Is(err, errNoSum) {
		return err
	}
	for _, c := range r.Cells[cells:] {
		if faults := c.contradictions(); len(faults) > 0 {
			return fmt.Errorf("%s on %s: %w", c.Impl, c.Input, faults[0])
		}
	}
	return nil
}

func (r *Records) add(line []byte) error {
	var kind struct{ Schema, Kind string }
	if err := decode(line, &kind); err != nil {
		return err
	}
	if kind.Schema != Schema {
		return fmt.Errorf("schema %q, want %q", kind.Schema, Schema)
	}
	switch kind.Kind {
	case KindRun:
		var run RunRecord
		if err := decode(line, &run); err != nil {
			return err
		}
		r.Runs = append(r.Runs, run)
	case KindCell:
		var cell CellRecord
		if err := decode(line, &cell); err != nil {
			return err
		}
		cell.respell()
		cell.fromFlags()
		cell.addUp()
		r.Cells = append(r.Cells, cell)
	default:
		return fmt.Errorf("kind %q, want %q or %q", kind.Kind, KindRun, KindCell)
	}
	return nil
}

// decode reads a record from JSON. The error of a value of a wrong type names its field.
func decode(line []byte, record any) error {
	err := json.Unmarshal(line, record)
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		err = fmt.Errorf("its %s is a JSON %s", cmp.Or(wrong.Field, "content"), wrong.Value)
	}
	if err != nil {
		return fmt.Errorf("not a record: %w", err)
	}
	return nil
}

// supersede removes failed cells that the same program measured again on the same machine.
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

// respell converts the names and the class to the current spelling, in which parameters are decimals.
// Old and new records of a cell then have the same key.
func (c *CellRecord) respell() {
	c.Input = name.Current(c.Input)
	for i, s := range c.Inputs {
		c.Inputs[i] = name.Current(s)
	}
	for i, e := range c.Evidence {
		c.Evidence[i].Input = name.Current(e.Input)
	}
	kind := c.Workload + "/"
	c.Cost.Class = strings.TrimPrefix(name.Current(kind+c.Cost.Class), kind)
}

// fromFlags moves the instruction set and the cache state from the flags to their fields. Records
// from before these fields existed keep them among the flags.
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

// addUp drops a timeline that merges several calls. Older records contain such timelines: intervals
// of the same name overlap, which never happens within one call. Their lengths are added to Spans
// instead, as Sum does.
func (c *CellRecord) addUp() {
	ends := map[string]float64{} // of the intervals so far, by name
	apart := false
	for _, i := range slices.SortedStableFunc(slices.Values(c.Timeline),
		func(a, b Interval) int { return cmp.Compare(a.From, b.From) }) {
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

// A Log is a results file that is open for appending. It is locked, so that no other program writes
// to it. Each record is one write, which reaches the disk before Append returns.
type Log struct {
	f       *os.File
	regular bool // not a device such as /dev/stdout
}

// CreateLog creates a results file and fails if it exists. It also accepts a device or named pipe.
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
	// Another program may already have opened the new file with --resume and locked it.
	if err := regular.Lock(f); err != nil && !errors.Is(err, regular.ErrNoLocks) {
		f.Close()
		return nil, fmt.Errorf("results %s: %w", path, err)
	}
	return &Log{f, true}, nil
}

// ResumeLog opens a results file to continue it, and returns its records. It cuts off a truncated
// last line and creates a missing file. It does not change a file that contains other lines than
// records, or that another program has locked.
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

// recordStart begins every record.
const recordStart = `{"schema":"` + Schema + `",`

// isTorn reports whether the end of a file, after its last complete line, is empty or the beginning
// of a record. After complete records it may also be zeros, which a file system leaves for data
// that never reached the disk.
func isTorn(end []byte, first bool) bool {
	n := min(len(end), len(recordStart))
	return string(end[:n]) == recordStart[:n] || !first && end[0] == 0
}

// Append writes a record. After an error, such as a full disk, the file ends with the last complete
// record, or with a truncated line, which readers ignore.
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
	if l.regular { // remove the partial record
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
