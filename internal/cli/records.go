package cli

import (
	"fmt"

	"eccbench/internal/bench"
	"eccbench/internal/regular"
)

// ReadRecords reads a results file. A file without cells is an error.
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

// ReadRecords calls the function ReadRecords and prints a warning about a truncated last line.
func (c *Program) ReadRecords(path string) (bench.Records, error) {
	records, err := ReadRecords(path)
	if err == nil && records.Cut > 0 {
		fmt.Fprintf(c.Stderr, "eccbench: results %s: the last line is cut off after %d bytes: passed over\n", path,
			records.Cut)
	}
	return records, err
}

// ReadAllRecords reads the records of several results files.
func (c *Program) ReadAllRecords(paths []string) (all bench.Records, err error) {
	for _, path := range paths {
		records, err := c.ReadRecords(path)
		if err != nil {
			return all, Usage(err)
		}
		all.Runs, all.Cells = append(all.Runs, records.Runs...), append(all.Cells, records.Cells...)
	}
	return all, nil
}

// CellText returns the text of a cell that regular expressions are matched against.
func CellText(impl, input string, scope bench.Scope) string {
	return impl + " " + input + " " + string(scope)
}
