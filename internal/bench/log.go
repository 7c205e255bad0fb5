package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
)

// Records is what a results file holds: the runs, and the cells in the order
// they ended.
type Records struct {
	Runs  []RunRecord
	Cells []CellRecord
}

// ReadRecords reads a results file: one JSON record a line. A last line that
// was cut short, as a killed run leaves it, is passed over; any other line that
// is no record of this schema is an error that names the line.
func ReadRecords(r io.Reader) (Records, error) {
	recs, _, err := readRecords(r)
	return recs, err
}

// readRecords also returns the length of the whole lines.
func readRecords(r io.Reader) (recs Records, whole int64, err error) {
	in := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return recs, whole, nil // what is left, if anything, is torn
		}
		if err != nil {
			return recs, whole, err
		}
		if len(bytes.TrimSpace(line)) > 0 {
			if err := recs.add(line); err != nil {
				return recs, whole, fmt.Errorf("line %d: %w", n, err)
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
		r.Cells = append(r.Cells, cell)
	default:
		return fmt.Errorf("kind %q, want %q or %q", kind.Kind, KindRun, KindCell)
	}
	return nil
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

// A Log is a results file that is being appended to. Each record is one write
// that reaches the disk before Append returns.
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
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%s exists: continue it with --resume, or name another file", path)
	}
	if err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	return &Log{f, true}, nil
}

// ResumeLog opens a results file to continue it, and returns what it holds. A
// torn last line is cut off. A file that does not exist is started.
func ResumeLog(path string) (*Log, Records, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, Records{}, fmt.Errorf("results: %s is not a regular file, so it cannot be continued", path)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, Records{}, fmt.Errorf("results: %w", err)
	}
	recs, whole, err := readRecords(f)
	if err == nil {
		err = f.Truncate(whole)
	}
	if err == nil {
		_, err = f.Seek(whole, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, Records{}, fmt.Errorf("results %s: %w", path, err)
	}
	return &Log{f, true}, recs, nil
}

// Append writes a record. After an error, such as a full disk, the file ends
// with the last record that was written whole, or with a torn line that readers
// pass over.
func (l *Log) Append(record any) error {
	line, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("results: %w", err)
	}
	var at int64
	if l.regular {
		if at, err = l.f.Seek(0, io.SeekCurrent); err != nil {
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
		err = errors.Join(err, l.f.Truncate(at))
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
