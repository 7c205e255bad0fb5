package bench

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"eccbench/internal/peers"
	"eccbench/internal/stats"
	"eccbench/internal/verify"
)

// fileOf is a results file of a run and a cell.
func fileOf(t *testing.T, cell CellRecord) []byte {
	t.Helper()
	var file []byte
	for _, record := range []any{sampleRun(), cell} {
		line, err := json.Marshal(record)
		if err != nil {
			t.Fatal(err)
		}
		file = append(append(file, withSum(line)...), '\n')
	}
	return file
}

// steadyCell is a cell whose samples differ little.
func steadyCell() CellRecord {
	c := sampleCell()
	c.Samples = []float64{0.37, 0.38}
	*c.Seconds = stats.Summarise(c.Samples)
	return c
}

func checked(t *testing.T, file []byte) string {
	t.Helper()
	_, faults, err := Check(bytes.NewReader(file))
	if err != nil {
		return err.Error()
	}
	var text []string
	for _, f := range faults {
		text = append(text, f.Error())
	}
	return strings.Join(text, "; ")
}

// Another byte anywhere in a record is a fault.
func TestEditedRecords(t *testing.T) {
	file := fileOf(t, steadyCell())
	if got := checked(t, file); got != "" {
		t.Errorf("as it was written: %s", got)
	}
	for i, b := range file {
		if b == '\n' {
			continue
		}
		edited := bytes.Clone(file)
		edited[i] = '1' + (b+1)%9
		if edited[i] == b {
			continue
		}
		if checked(t, edited) == "" {
			t.Fatalf("nothing is wrong with %q of %q at byte %d", edited[i], b, i)
		}
		if bytes.Count(edited, []byte(sumField)) < 2 {
			continue // it looks like one from before records had sums
		}
		if _, err := ReadRecords(bytes.NewReader(edited)); err == nil {
			t.Fatalf("%q of %q at byte %d is read", edited[i], b, i)
		}
	}
	if got := checked(t, bytes.Replace(file, []byte(`,"sum":"`), []byte(`}`), 1)); !strings.Contains(got, "line 1") {
		t.Errorf("a line that is cut: %s", got)
	}
	line, err := json.Marshal(sampleRun())
	if err != nil {
		t.Fatal(err)
	}
	if got := checked(t, append(append(line, '\n'), file...)); got != "line 1: "+errNoSum.Error() {
		t.Errorf("a record without a sum: %s", got)
	}
	if recs, faults, err := Check(bytes.NewReader(line)); recs.Unsummed != 1 || len(faults) > 0 || err != nil {
		t.Errorf("a file from before sums: %d lines, faults %v (%v)", recs.Unsummed, faults, err)
	}
	// Records from before sums existed are read if they do not contradict themselves.
	for median, want := range map[string]string{"0.375": "", "0.125": "seconds are not those of the samples"} {
		line, err := json.Marshal(steadyCell())
		if err != nil {
			t.Fatal(err)
		}
		line = bytes.Replace(line, []byte(`"median":0.375`), []byte(`"median":`+median), 1)
		_, err = ReadRecords(bytes.NewReader(append(line, '\n')))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("median %s: %v, want %q", median, err, want)
		}
	}
}

// Records whose sums are right, but which contradict themselves.
func TestContradictions(t *testing.T) {
	contrary := verify.Evidence{Diff: &verify.Diff{}}
	wide := []float64{0.1, 0.9}
	spread := stats.Summarise(wide)
	for want, forge := range map[string]func(*CellRecord){
		`run "x" is not in the file`:            func(c *CellRecord) { c.Run = "x" },
		"seconds are not those of the samples":  func(c *CellRecord) { c.Samples[0] /= 2 },
		"seconds are not those":                 func(c *CellRecord) { c.Seconds.Median /= 2 },
		"whose median is 0.375":                 func(c *CellRecord) { c.Seconds.Mean /= 2 },
		"samples and seconds go together":       func(c *CellRecord) { c.Samples = nil },
		"by its evidence it is UNVERIFIED":      func(c *CellRecord) { c.Evidence = nil },
		"status is VERIFIED, by its evidence":   func(c *CellRecord) { c.Evidence[0] = contrary },
		"UNVERIFIED, by its evidence":           func(c *CellRecord) { c.Status = verify.Unverified },
		"0 digests of the answers to 1 inputs":  func(c *CellRecord) { c.Digests = nil },
		"by the interval of its seconds":        func(c *CellRecord) { c.Samples, c.Seconds = wide, &spread },
		"implementation i, and peer":            func(c *CellRecord) { c.Peer = &peers.Stamp{} },
		"implementation peer:i, and peer <nil>": func(c *CellRecord) { c.Impl = "peer:i" },
	} {
		c := steadyCell()
		if got := checked(t, fileOf(t, c)); got != "" {
			t.Fatal(got)
		}
		forge(&c)
		if got := checked(t, fileOf(t, c)); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	unknown := []byte(`{"schema":"eccbench/1","kind":"run","id":"0123456789abcdef","mood":"good"}`)
	if got := checked(t, withSum(unknown)); !strings.Contains(got, `unknown field "mood"`) {
		t.Error(got)
	}
}
