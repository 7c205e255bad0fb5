package report

import (
	"strings"
	"testing"

	"eccbench/internal/bench"
)

func TestMemory(t *testing.T) {
	var b strings.Builder
	cells := []bench.CellRecord{
		{Impl: "streamed", Input: "x", Setting: bench.Setting{Scope: bench.File}, Cost: bench.Cost{Bytes: 32 << 30}, Inputs: []string{"x", "y"}, PeakRSS: 3 << 20, DeviceMemory: 1613 << 20},
		{Impl: "skipped", Input: "x"},
		{Impl: "host", Input: "x", Setting: bench.Setting{Scope: bench.E2E}, Cost: bench.Cost{Bytes: 4096}, Inputs: []string{"x"}, PeakRSS: 9 << 20},
	}
	if err := Memory(&b, Markdown, cells); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| streamed       | x     | file  | 32.0 GiB      | 2      | 3.00 MiB      | 1.58 GiB         |", "| host           | x     | e2e   | 4.00 KiB      | 1      | 9.00 MiB      | —                |"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no line %q in\n%s", want, &b)
		}
	}
	if strings.Contains(b.String(), "skipped") {
		t.Errorf("a cell that took none:\n%s", &b)
	}
	if err := Memory(&b, Markdown, cells[1:2]); err == nil {
		t.Error("cells that say nothing were printed")
	}
}
