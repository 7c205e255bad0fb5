package report

import (
	"fmt"
	"io"

	"eccbench/internal/bench"
	"eccbench/internal/quantity"
)

// Memory prints the memory of each cell as text or Markdown. Host memory is the worker's, including
// shared inputs; device memory is that of its buffers.
func Memory(w io.Writer, style Format, cells []bench.CellRecord) error {
	size := func(bytes int64) string {
		if bytes == 0 {
			return "—"
		}
		return quantity.Bytes(bytes)
	}
	var lines [][]string
	for _, c := range cells {
		if c.PeakRSS == 0 && c.DeviceMemory == 0 {
			continue
		}
		lines = append(lines, []string{c.Impl, c.Input, string(c.Scope), size(c.Cost.Bytes), fmt.Sprint(len(c.Inputs)),
			size(c.PeakRSS), size(c.DeviceMemory)})
	}
	if len(lines) == 0 {
		return fmt.Errorf("no cell records its memory")
	}
	return Table(w, style, []string{"implementation", "input", "scope", "input's bytes", "inputs", "host, at most",
		"devices, at most"}, lines)
}
