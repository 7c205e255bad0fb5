package paper

import (
	"fmt"
	"path"
	"strings"

	"eccbench/datasets"
	"eccbench/internal/bench"
	"eccbench/internal/workloads/eigenmap"
	"eccbench/internal/workloads/homology"
)

// A Series is what is measured beside one column of a table: implementations of
// a workload on the inputs of the table's rows, in one scope.
type Series struct {
	Title    string      `json:"title"`
	Column   string      `json:"column"` // the published column, "" for none
	Workload string      `json:"workload"`
	Scope    bench.Scope `json:"scope"`
	Where    string      `json:"where"` // "cpu" or "gpu"
	Impls    []string    `json:"impls"` // those that the program does not have are passed over
	Quantity Quantity    `json:"quantity"`
	// Incomparable is why the numbers cannot be divided by the published ones,
	// "" when they can.
	Incomparable string `json:"incomparable"`
}

// Files is how many images a row has in the series: a row's count is of files in a
// batch, and of iterations on one image in a pipeline.
func (s Series) Files(r Row) int64 {
	if s.Workload == Batch {
		return r.Times()
	}
	return 1
}

// each is what a record's seconds are multiplied by for those of a row: a row's count is of files
// or iterations, but steps of Lanczos' method are one answer.
func (s Series) each(r Row) float64 {
	if s.Workload == Steps || s.Workload == Pairs {
		return 1
	}
	return 1 / float64(r.Times())
}

// Work is about how many voxels a call goes through: of patches the numbers of their matrix, of
// which a dozen take as long as a voxel, once for each step; or some of these.
func (r Row) Work(workload string) int64 {
	s := r.shape()
	patches := s.W / side * (s.H / side)
	switch workload {
	case Steps:
		return patches * patches * (r.Times() + 20) / 12
	case Pairs:
		return patches * patches
	}
	return r.Voxels() * r.Times()
}

// A Quantity is what is taken of a cell's record.
type Quantity string

// The quantities. A time of a row with a count is for one of it.
const (
	Rate    Quantity = "rate"    // items a second
	Time    Quantity = "time"    // seconds of a call
	Overall Quantity = "overall" // seconds of a start and a call
	Call    Quantity = "call"    // seconds of a call, whatever the row's count
	Part    Quantity = "part:"   // seconds of the part of a call that follows the colon
)

// The workloads that series are of, by name.
const (
	ECC    = "ecc"
	Batch  = "ecc-batch"
	Smooth = "ecc-smooth"
	Flow   = "gvf"
	Groups = homology.Name
	Steps  = eigenmap.Lanczos
	Pairs  = eigenmap.Patch
)

// BatchCeiling is the name of the workload that reads a batch and does nothing
// else.
const BatchCeiling = "memread-batch"

// Series are what is run for a table of a paper.
func (p Paper) Series(n int) []Series {
	t, err := p.Table(n)
	if err != nil {
		return nil
	}
	return t.Series
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
	case "vessel tubes", "vessel tubes (stand-in)":
		return datasets.Canonical(fmt.Sprintf("tubes/shape=%s/levels=%d/type=%s/seed=1", r.Shape, r.Levels, r.Type))
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
	if r.Complex != "" {
		return homology.Of(r.Complex, 2) // Murty 2013 has no other coefficients
	}
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
	case workload == Flow:
		return r.flow() + name, nil
	case workload == Steps:
		return r.steps() + name, nil
	case workload == Pairs:
		return pairs + name, nil
	}
	return name, nil
}

// flow begins the name of a flow of a row's image: as many steps as its count, with the μ and
// the boundary that are said with the tables.
func (r Row) flow() string { return fmt.Sprintf("gvf/steps=%d/mu=0.05/boundary=0/of=", r.Times()) }

// Parameters of the graph of patches that are said with the tables.
const (
	side    = 4
	patches = "/alpha=40/beta=5/side=4/"
)

// steps begins the name of as many steps of Lanczos' method as a row's count.
func (r Row) steps() string {
	return fmt.Sprintf("%s/steps=%d%sstart=1/of=", Steps, r.Times(), patches)
}

// pairs begins the name of the two lowest pairs.
const pairs = Pairs + "/k=2/tol=8" + patches + "of="

// matches reports whether an input belongs to a row, whatever the source of its bytes.
func (r Row) matches(input, workload string) bool {
	if r.Complex != "" {
		name, err := homology.Of(r.Complex, 2)
		return err == nil && input == name
	}
	prefix := map[string]string{Batch: fmt.Sprintf("batch/count=%d/of=", r.Times()), Smooth: fmt.Sprintf("smooth/iterations=%d/of=", r.Times()), Flow: r.flow(), Steps: r.steps(), Pairs: pairs}[workload]
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
