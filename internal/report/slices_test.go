package report

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// TestSlices draws the outline of a ring, and two masks whose names need escapes in XML.
func TestSlices(t *testing.T) {
	ring := []bool{true, true, true, false, true, false, true, false, true, true, true, false}
	if got, want := outline(ring, 4), "M0 0h3M1 1h1M1 2h1M0 3h3M0 0v3M1 1v1M2 1v1M3 0v3"; got != want {
		t.Errorf("want %s, got %s", want, got)
	}
	var b strings.Builder
	list := []MaskSlice{{"z = 1: <merge>", 4, ring, make([]bool, 12)}, {"z = 2", 4, ring, ring}}
	if err := Slices(&b, `a & "b"`, "note", list); err != nil {
		t.Fatal(err)
	}
	paths := 0
	d := xml.NewDecoder(strings.NewReader(b.String()))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "path" {
			paths++
		}
	}
	if paths != 4 || !strings.Contains(b.String(), "z = 1: &lt;merge&gt;") {
		t.Errorf("want 4 outlines and a title, got %d of\n%s", paths, b.String())
	}
}
