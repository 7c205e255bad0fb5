package measure

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"eccbench/internal/bench"
	"eccbench/internal/cli"
	"eccbench/internal/fields"
	"eccbench/internal/grid"
	"eccbench/internal/headers"
	"eccbench/internal/name"
	"eccbench/internal/runner"
)

// keepFailing saves the input of each failed cell in a folder of its own, for the author of the
// implementation: question.txt, and image.npy for a question about an image. small maps the command that
// shows a failure again to the smaller input of that command.
func keepFailing(dir string, b runner.Bench, cells []bench.CellRecord, small map[string]string) error {
	n := 0
	for _, cell := range cells {
		if cli.Verdict([]bench.CellRecord{cell}) == nil {
			continue
		}
		n++
		input := cmp.Or(small[cell.Reproduce], cell.Input)
		to := filepath.Join(dir, fmt.Sprintf("%s-%d", strings.ReplaceAll(cell.Impl, ":", "-"), n))
		if err := os.MkdirAll(to, 0o777); err != nil {
			return cli.Usagef("--keep-failing: %w", err)
		}
		if len(b.Question().Kinds) == 0 {
			if err := saveImage(filepath.Join(to, "image.npy"), input); err != nil {
				return err
			}
		}
		text := fmt.Sprintf("workload: %s\ninput: %s\n%s: %s\n", cell.Workload, input, cell.Status, cell.Reason)
		for _, e := range cell.Evidence {
			if e.Diff != nil {
				text += fmt.Sprintf("%s\n%s\n", e, e.Diff.Context)
			}
		}
		if cell.Reproduce != "" {
			text += "reproduce: " + cell.Reproduce + "\n"
		}
		if p := cell.Peer; p != nil {
			text += fmt.Sprintf("peer: version %s, sha256 %s\n", p.Version, p.SHA256)
		}
		err := cli.WriteFile(filepath.Join(to, "question.txt"), func(w *os.File) error {
			_, err := w.WriteString(text)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// saveImage writes the image of an input as a NumPy file.
func saveImage(path, input string) error {
	if parsed, err := name.Parse(input); err == nil {
		if of, ok := parsed.Get(name.Of); ok {
			input = of
		}
	}
	in, err := fields.Inputs{}.Open(input)
	if err != nil {
		return err
	}
	if file, ok := in.(io.Closer); ok {
		defer file.Close() // only read from
	}
	f, err := grid.Load(in)
	if err != nil {
		return err
	}
	kind := fmt.Sprintf("%c%d", f.Type().String()[0], f.Type().Size())
	return cli.WriteFile(path, func(w *os.File) error {
		_, err := w.Write(append(headers.Npy(kind, f.Shape().Sides()...), f.Data()...))
		return err
	})
}
