package reproduce

import (
	"fmt"
	"os"
	"time"

	"eccbench/datasets"
	"eccbench/internal/bench"
	"eccbench/internal/cli"
	"eccbench/internal/crew"
	"eccbench/internal/host"
	"eccbench/internal/quantity"
	"eccbench/reports/paper"
)

// images are the names of the generated images that a job reads from the store.
func (r *reproduction) images(j paperJob) ([]string, error) {
	if r.o.at.Store == "" || j.series.Scope != bench.File {
		return nil, nil
	}
	if _, real := j.row.File(); real && r.o.at.Data != "" {
		return nil, nil
	}
	first, err := j.row.Input(paper.ECC, bench.File, r.o.at)
	if err != nil {
		return nil, err
	}
	return datasets.Variants(first, r.rotate(j)*int(j.series.Files(j.row)))
}

// settling is the pause after writing to a disk. It continues for a moment after the files are
// written, and reads at two thirds of its rate meanwhile.
const settling = 3 * time.Second

// store writes the images that are read from a disk. Images without room on the disk are generated
// during reading.
func (r *reproduction) store() error {
	var written int64
	defer func() {
		if written >= 1<<30 {
			time.Sleep(settling)
		}
	}()
	for i := range r.jobs {
		names, need, _, err := r.place(i, 0)
		if err != nil {
			return err
		}
		if need > 0 && !r.o.limit.Quiet {
			j := r.jobs[i]
			fmt.Fprintf(r.c.Stderr, "storing %d × %s %s: %s\n", len(names), j.row.Data, j.row.Label, quantity.Bytes(need))
		}
		if err := storeAll(names); err != nil {
			return cli.Usage(err)
		}
		written += need
	}
	return nil
}

// place returns the images of a job in the store, the number of their bytes that are missing, and
// the free bytes. If the missing bytes and the reserved bytes exceed the free ones, it changes the
// job to generate the images during reading.
func (r *reproduction) place(i int, reserved int64) (names []string, need, free int64, err error) {
	j := &r.jobs[i]
	names, err = r.images(*j)
	if err != nil || len(names) == 0 || r.missing[j.input] != "" {
		return nil, 0, 0, err
	}
	const margin = 1 << 30
	for _, name := range names {
		if info, err := os.Stat(datasets.StoredFile(name)); err != nil || info.Size() != j.row.Bytes() {
			need += j.row.Bytes()
		}
	}
	if free, err = host.FreeDisk(r.o.at.Store); err != nil {
		return nil, 0, 0, cli.Usagef("--store %s: %w", r.o.at.Store, err)
	}
	if need == 0 || need+reserved+margin <= free {
		return names, need, free, nil
	}
	why := fmt.Sprintf("%d images of %s %s take %s more in %s, which has %s free: they are made as they are read",
		len(names), j.row.Data, j.row.Label, quantity.Bytes(need), r.o.at.Store, quantity.Bytes(free-reserved))
	if !r.told[why] {
		fmt.Fprintln(r.c.Stderr, "eccbench:", why)
	}
	r.told[why] = true
	stored := j.input
	if j.input, err = j.row.Input(j.series.Workload, j.series.Scope, paper.Place{Data: r.o.at.Data}); err != nil {
		return nil, 0, 0, err
	}
	r.weighTime(*j, stored)
	return nil, 0, free, nil
}

// storeAll writes images to their files, several at a time. Each is generated on all cores, but
// small ones wait for the disk most of the time.
func storeAll(names []string) error {
	const writers = 16
	return crew.Try(writers, len(names), func(_, i int) error {
		_, err := datasets.Store(names[i])
		return err
	})
}
