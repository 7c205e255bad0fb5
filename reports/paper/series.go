package paper

import (
	"fmt"
	"path"
	"strings"

	"eccbench/datasets"
	"eccbench/internal/bench"
)

// A Series is what is measured beside one column of a table: implementations of
// a workload on the inputs of the table's rows, in one scope.
type Series struct {
	Title    string
	Column   string // the published column, "" for none
	Workload string
	Scope    bench.Scope
	Where    string   // "cpu" or "gpu"
	Impls    []string // those that the program does not have are passed over
	Quantity Quantity
	// Incomparable is why the numbers cannot be divided by the published ones,
	// "" when they can.
	Incomparable string
}

// Files is how many images a row has in the series: a row's count is of files in a
// batch, and of iterations on one image in a pipeline.
func (s Series) Files(r Row) int64 {
	if s.Workload == Batch {
		return r.Times()
	}
	return 1
}

// A Quantity is what is taken of a cell's record.
type Quantity string

// The quantities. A time of a row with a count is for one of it.
const (
	Rate    Quantity = "rate"    // items a second
	Time    Quantity = "time"    // seconds of a call
	Overall Quantity = "overall" // seconds of a start and a call
	Part    Quantity = "part:"   // seconds of the part of a call that follows the colon
)

// The workloads that series are of, by name.
const (
	ECC    = "ecc"
	Batch  = "ecc-batch"
	Smooth = "ecc-smooth"
)

// BatchCeiling is the name of the workload that reads a batch and does nothing
// else.
const BatchCeiling = "memread-batch"

// Series are what is run for a table of a paper.
func (p Paper) Series(n int) []Series {
	switch {
	case p.ID == "wang2022" && n == 1:
		return []Series{
			{Title: "from the disk to the curve, CPU", Column: "cpu_overall", Workload: ECC, Scope: bench.File, Where: "cpu", Impls: []string{"cpu", "extrema"}, Quantity: Overall},
			{Title: "from the disk to the curve, GPU, its start included", Column: "gpu_overall", Workload: ECC, Scope: bench.File, Where: "gpu", Impls: []string{"chunked", "extrema-gpu"}, Quantity: Overall},
			{Title: "kernel", Column: "kernel_rate", Workload: ECC, Scope: bench.Kernel, Where: "gpu", Impls: []string{"tiled", "extrema-gpu"}, Quantity: Rate},
		}
	case p.ID == "wang2022" && n == 2:
		return []Series{
			{Title: "ECC, for each iteration", Column: "ecc", Workload: Smooth, Scope: bench.Device, Where: "gpu", Impls: []string{"smooth-gpu"}, Quantity: Part + "ecc"},
			{Title: "Gaussian, for each iteration", Column: "gaussian", Workload: Smooth, Scope: bench.Device, Where: "gpu", Impls: []string{"smooth-gpu"}, Quantity: Part + "gaussian"},
			{Title: "VCEC to the host and summed, for each iteration", Column: "ecc_memory", Workload: Smooth, Scope: bench.Device, Where: "gpu", Impls: []string{"smooth-gpu"}, Quantity: Part + "vcec"},
			{Title: "all of an iteration", Column: "average", Workload: Smooth, Scope: bench.Device, Where: "gpu", Impls: []string{"smooth-gpu"}, Quantity: Time,
				Incomparable: "the paper's includes the start of the device and the disk; here the image is resident"},
			{Title: "all of an iteration, CPU", Workload: Smooth, Scope: bench.E2E, Where: "cpu", Impls: []string{"smooth"}, Quantity: Time,
				Incomparable: "the paper has no CPU here"},
		}
	case p.ID == "wang2022" && n == 3:
		return []Series{
			{Title: "from the disk to the curves, for each file, the start of the device included", Column: "average", Workload: Batch, Scope: bench.File, Where: "gpu", Impls: []string{"chunked", "extrema-gpu", "extrema-gpu-batch"}, Quantity: Overall},
			{Title: "read of a file, for each file", Column: "disk", Workload: Batch, Scope: bench.File, Where: "gpu", Impls: []string{"chunked", "extrema-gpu"}, Quantity: Part + "file",
				Incomparable: "here several files are read at once, each while others are"},
			{Title: "from the disk to the curves, for each file, CPU", Workload: Batch, Scope: bench.File, Where: "cpu", Impls: []string{"cpu", "extrema"}, Quantity: Overall,
				Incomparable: "the paper has no CPU here"},
		}
	case !p.Published():
		const why = "nothing is published of it"
		return []Series{
			{Title: "from host memory to the curve, CPU", Workload: ECC, Scope: bench.E2E, Where: "cpu", Impls: []string{"cpu", "extrema"}, Quantity: Rate, Incomparable: why},
			{Title: "from host memory to the curve, GPU", Workload: ECC, Scope: bench.E2E, Where: "gpu", Impls: []string{"chunked", "extrema-gpu"}, Quantity: Rate, Incomparable: why},
			{Title: "kernel", Workload: ECC, Scope: bench.Kernel, Where: "gpu", Impls: []string{"tiled", "fullsweep", "extrema-gpu"}, Quantity: Rate, Incomparable: why},
		}
	case p.ID == "saxena2025":
		return []Series{
			{Title: "full sweep", Column: "new", Workload: ECC, Scope: bench.Kernel, Where: "gpu", Impls: []string{"fullsweep", "extrema-gpu"}, Quantity: Time},
			{Title: "baseline, chunks", Column: "baseline", Workload: ECC, Scope: bench.E2E, Where: "gpu", Impls: []string{"chunked"}, Quantity: Time,
				Incomparable: "the paper does not say what its clock runs over; here from host memory"},
			{Title: "CPU", Workload: ECC, Scope: bench.E2E, Where: "cpu", Impls: []string{"cpu", "extrema"}, Quantity: Time,
				Incomparable: "the paper has no CPU"},
		}
	}
	return nil
}

// A Place says where the images of a reproduction come from: Store is a folder
// that generated images are stored in, Data one with the papers' own files; ""
// for none.
type Place struct{ Store, Data string }

// Generated is the canonical name of the image that is made for a row, of the
// first of its files where it has several.
func (r Row) Generated() (string, error) {
	switch r.Data {
	case "uniform noise":
		return datasets.Canonical(fmt.Sprintf("noise/shape=%s/levels=%d/type=%s/seed=1", r.Shape, r.Levels, r.Type))
	case "Gaussian random field":
		return datasets.Canonical(fmt.Sprintf("grf/shape=%s/levels=%d/type=%s/smooth=2/seed=1", r.Shape, r.Levels, r.Type))
	case "VICTRE":
		return datasets.Canonical(fmt.Sprintf("phantom/shape=%s/type=%s/smooth=4/seed=1", r.Shape, r.Type))
	case "CMB":
		return datasets.Canonical(fmt.Sprintf("grf/shape=%s/levels=%d/type=%s/smooth=3/seed=1", r.Shape, r.Levels, r.Type))
	}
	return "", fmt.Errorf("row %s: no images of the kind %q", r.Label, r.Data)
}

// File is the name of the file with a row's real data, and whether there is such
// data: that of simulations and of instruments.
func (r Row) File() (name string, ok bool) {
	switch r.Data {
	case "VICTRE", "CMB":
		return strings.ToLower(r.Data) + "-" + r.Shape + ".raw", true
	}
	return "", false
}

// Input is the input that is run for a row in a workload and scope.
func (r Row) Input(workload string, scope bench.Scope, at Place) (string, error) {
	if r.Path != "" {
		return datasets.Canonical("file/path=" + r.Path)
	}
	if file, ok := r.File(); ok && at.Data != "" {
		stream := ""
		if scope == bench.File {
			stream = "/stream=true"
		}
		return datasets.Canonical(fmt.Sprintf("file/shape=%s/type=%s%s/path=%s", r.Shape, r.Type, stream, path.Join(at.Data, file)))
	}
	name, err := r.Generated()
	if err == nil && at.Store != "" && scope == bench.File {
		name, err = datasets.Canonical(name + "/path=" + at.Store)
	}
	switch {
	case err != nil:
		return "", err
	case workload == Batch:
		return fmt.Sprintf("batch/count=%d/of=%s", r.Times(), name), nil
	case workload == Smooth:
		return fmt.Sprintf("smooth/iterations=%d/of=%s", r.Times(), name), nil
	}
	return name, nil
}

// of reports whether an input is a row's, wherever its bytes came from.
func (r Row) of(input, workload string) bool {
	prefix := map[string]string{Batch: fmt.Sprintf("batch/count=%d/of=", r.Times()), Smooth: fmt.Sprintf("smooth/iterations=%d/of=", r.Times())}[workload]
	image, ok := strings.CutPrefix(input, prefix)
	if !ok {
		return false
	}
	n, err := datasets.ParseName(image)
	if err != nil {
		return false
	}
	if r.Path != "" {
		return n.Generator == "file" && n.Get("path") == r.Path
	}
	if file, ok := r.File(); ok && n.Generator == "file" {
		return path.Base(n.Get("path")) == file
	}
	name, err := r.Generated()
	return err == nil && n.With("path", "").String() == name
}

// Source says where an input's bytes come from: "generated", "stored" or "real".
func Source(input string) string {
	if _, image, ok := strings.Cut(input, "/of="); ok {
		input = image
	}
	n, err := datasets.ParseName(input)
	switch {
	case err == nil && n.Generator == "file":
		return "real"
	case err == nil && n.Get("path") != "":
		return "stored"
	}
	return "generated"
}
