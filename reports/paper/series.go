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

// A Series is the list of measurements next to one column of a table: implementations of a workload
// on the inputs of the table's rows, in one scope.
type Series struct {
	Title    string      `json:"title"`
	Column   string      `json:"column"` // the published column, "" for none
	Workload string      `json:"workload"`
	Scope    bench.Scope `json:"scope"`
	Where    string      `json:"where"` // "cpu" or "gpu"
	Impls    []string    `json:"impls"` // names that the program does not have are skipped
	Quantity Quantity    `json:"quantity"`
	// Incomparable is the reason why the ratio to the published numbers has no meaning, "" if it has
	// one.
	Incomparable string `json:"incomparable"`
}

// Files returns the number of images of a row: the row's count in a batch, and 1 in a pipeline,
// where the count is of iterations.
func (s Series) Files(r Row) int64 {
	if s.Workload == Batch {
		return r.Times()
	}
	return 1
}

// each returns the factor from a record's seconds to seconds of a row: one over the row's count of
// files or iterations. The steps of Lanczos' method are one answer.
func (s Series) each(r Row) float64 {
	if s.Workload == Steps || s.Workload == Pairs {
		return 1
	}
	return 1 / float64(r.Times())
}

// Work estimates the voxels that a call visits. For patches it counts the entries of their matrix,
// once per step; a dozen cost as much as a voxel.
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

// A Quantity is the number of a record that a series compares.
type Quantity string

// The quantities. A time of a row with a count is the time of one file or iteration.
const (
	Rate    Quantity = "rate"    // items a second
	Time    Quantity = "time"    // seconds of a call
	Overall Quantity = "overall" // seconds of a start and a call
	Call    Quantity = "call"    // seconds of a call, whatever the row's count
	Part    Quantity = "part:"   // seconds of the part of a call that follows the colon
)

// The names of the workloads that series measure.
const (
	ECC    = "ecc"
	Batch  = "ecc-batch"
	Smooth = "ecc-smooth"
	Flow   = "gvf"
	Groups = homology.Name
	Steps  = eigenmap.Lanczos
	Pairs  = eigenmap.Patch
)

// BatchCeiling is the name of the workload that only reads a batch.
const BatchCeiling = "memread-batch"

// Series returns the series of a table, nil if the paper has no such table.
func (p Paper) Series(n int) []Series {
	t, err := p.Table(n)
	if err != nil {
		return nil
	}
	return t.Series
}

// A Place holds the folders with the images of a reproduction, "" for none. Store has generated
// images, Data the papers' own files.
type Place struct{ Store, Data string }

// Generated returns the canonical name of a row's generated image, or of the first one if the row
// has several files.
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

// File returns the file name of a row's real data (of a simulation or an instrument), and whether
// the row has any.
func (r Row) File() (name string, ok bool) {
	switch r.Data {
	case "VICTRE", "CMB":
		return strings.ToLower(r.Data) + "-" + r.Shape + ".raw", true
	}
	return "", false
}

// Input returns the name of the input for a row in a workload and scope.
func (r Row) Input(workload string, scope bench.Scope, at Place) (string, error) {
	if r.Complex != "" {
		return homology.NameOf(r.Complex, 2) // Murty 2013 has no other coefficients
	}
	if r.Path != "" {
		return datasets.Canonical("file/path=" + r.Path)
	}
	if file, ok := r.File(); ok && at.Data != "" {
		stream := ""
		if scope == bench.File {
			stream = "/stream=true"
		}
		return datasets.Canonical(fmt.Sprintf("file/shape=%s/type=%s%s/path=%s",
			r.Shape, r.Type, stream, path.Join(at.Data, file)))
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

// flow returns the prefix of the name of a flow. The row's count is the number of steps; μ and the
// boundary come from the tables' notes.
func (r Row) flow() string { return fmt.Sprintf("gvf/steps=%d/mu=0.05/boundary=0/of=", r.Times()) }

// Parameters of the graph of patches, as in the tables' notes.
const (
	side    = 4
	patches = "/alpha=40/beta=5/side=4/"
)

// steps returns the prefix of the name of a row's steps of Lanczos' method.
func (r Row) steps() string {
	return fmt.Sprintf("%s/steps=%d%sstart=1/of=", Steps, r.Times(), patches)
}

// pairs is the prefix of the name of the two lowest pairs.
const pairs = Pairs + "/k=2/tol=8" + patches + "of="

// matches reports whether an input belongs to a row, from any source of its bytes.
func (r Row) matches(input, workload string) bool {
	if r.Complex != "" {
		name, err := homology.NameOf(r.Complex, 2)
		return err == nil && input == name
	}
	prefix := map[string]string{Batch: fmt.Sprintf("batch/count=%d/of=", r.Times()),
		Smooth: fmt.Sprintf("smooth/iterations=%d/of=", r.Times()), Flow: r.flow(), Steps: r.steps(), Pairs: pairs}[workload]
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

// Source returns the origin of an input's bytes: "generated", "stored" or "real".
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
