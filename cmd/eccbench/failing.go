package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"eccbench/internal/bench"
	"eccbench/internal/cli"
	"eccbench/internal/fields"
	"eccbench/internal/headers"
	"eccbench/internal/name"
	"eccbench/internal/runner"
)

// keepFailing saves the input of each failed cell in a folder of its own, for the author of the
// implementation: question.txt, and image.npy for a question about an image. The smaller input that the
// search found is the value of small for the command that shows the failure again.
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
	s := in.Shape()
	shape := []int64{s.D, s.H, s.W}
	if s.Dim() == 2 {
		shape = shape[1:]
	}
	data := make([]byte, s.Voxels()*in.Type().Size())
	if err := in.ReadSlab(data, 0, s.Slices()); err != nil {
		return err
	}
	kind := fmt.Sprintf("%c%d", in.Type().String()[0], in.Type().Size())
	return cli.WriteFile(path, func(w *os.File) error {
		_, err := w.Write(append(headers.Npy(kind, shape...), data...))
		return err
	})
}
