package cli

import (
	"fmt"

	"eccbench/internal/bench"
	"eccbench/internal/regular"
)

// ReadRecords reads a results file, in which there must be cells.
func ReadRecords(path string) (bench.Records, error) {
	file, _, err := regular.Open(path)
	if err != nil {
		return bench.Records{}, fmt.Errorf("results %w", err)
	}
	defer file.Close()
	records, err := bench.ReadRecords(file)
	if err != nil {
		return records, fmt.Errorf("results %s: %w", path, err)
	}
	if len(records.Cells) == 0 {
		return records, fmt.Errorf("results %s: no cells in it", path)
	}
	return records, nil
}

// ReadRecords is ReadRecords that says on standard error what it passes over.
func (c *Program) ReadRecords(path string) (bench.Records, error) {
	records, err := ReadRecords(path)
	if err == nil && records.Cut > 0 {
		fmt.Fprintf(c.Stderr, "eccbench: results %s: the last line is cut off after %d bytes: passed over\n", path, records.Cut)
	}
	return records, err
}

// CellText is what regular expressions about cells are matched with.
func CellText(impl, input string, scope bench.Scope) string {
	return impl + " " + input + " " + string(scope)
}
