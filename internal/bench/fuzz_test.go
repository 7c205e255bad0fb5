package bench

import (
	"bytes"
	"encoding/json"
	"testing"
)

// For any file, reading ends with records or with an error of one line, and the records survive
// writing and reading again.
func FuzzRecords(f *testing.F) {
	run := `{"schema":"eccbench/1","kind":"run","id":"0123456789abcdef","binary":{},"machine":{}}` + "\n"
	f.Add([]byte(run))
	f.Add([]byte(run + `{"schema":"eccbench/1","kind":"cell","run":"0123456789abcdef","impl":"cpu","flags":["hot","avx2"],"samples":[1,2],"status":"VERIFIED"}` + "\n"))
	f.Add([]byte(run + `{"schema":"eccbench/1","kind":"ce`))
	f.Add([]byte("\n\n{}\n"))
	f.Add([]byte(`{"schema":"eccbench/2","kind":"run"}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		recs, err := ReadRecords(bytes.NewReader(data))
		if err != nil {
			if bytes.ContainsRune([]byte(err.Error()), '\n') {
				t.Errorf("an error of several lines: %q", err)
			}
			return
		}
		var lines bytes.Buffer
		for _, r := range recs.Runs {
			r.Schema, r.Kind = Schema, KindRun
			if err := json.NewEncoder(&lines).Encode(r); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range recs.Cells {
			c.Schema, c.Kind = Schema, KindCell
			if err := json.NewEncoder(&lines).Encode(c); err != nil {
				t.Fatal(err)
			}
			recs.Machine(c.Run)
			c.Rate()
		}
		again, err := ReadRecords(&lines)
		if err != nil || len(again.Runs) != len(recs.Runs) || len(again.Cells) != len(recs.Cells) {
			t.Errorf("%d runs and %d cells are read again as %d and %d: %v", len(recs.Runs), len(recs.Cells), len(again.Runs), len(again.Cells), err)
		}
	})
}
