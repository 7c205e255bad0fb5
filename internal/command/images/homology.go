package images

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"eccbench/datasets"
	"eccbench/internal/ask"
	"eccbench/internal/cli"
	"eccbench/internal/command/answering"
	"eccbench/internal/grid"
	"eccbench/internal/host"
	"eccbench/internal/quantity"
	"eccbench/internal/report"
	"eccbench/internal/workloads/homology"
)

// Homology returns the command homology.
func Homology() cli.Subcommand {
	return cli.Subcommand{
		Name: "homology", Args: "FILE", Brief: "print verified Betti numbers and torsion of a mesh",
		Examples: []string{
			"eccbench homology mesh.off",
			"eccbench homology heart.1.ele --field Q",
			"eccbench homology part.msh --field Z --format json",
			"eccbench homology scan.ply.gz --field 3",
			"zcat scan.ply.gz | eccbench homology -",
			"eccbench homology simplices.txt --field Z -o groups.csv --format csv",
			"eccbench homology lens/p=5/q=2 --field Z",
		},
		Run: doHomology,
	}
}

// A homologyJob is a parsed homology command.
type homologyJob struct {
	answering.Flags
	field, format string
	bare          bool
}

func doHomology(c *cli.Program, f *pflag.FlagSet, parse func() error) error {
	var j homologyJob
	f.StringVar(&j.field, "field", "2", "coefficients `F`: a prime, Q, or Z for torsion too")
	f.StringVar(&j.format, "format", "text", "text, csv or json")
	f.BoolVar(&j.bare, "no-header", false, "omit the provenance line and the column names of CSV")
	f.StringVarP(&j.Out, "out", "o", "", "write to this `FILE`")
	j.AddEffort(f)
	if err := parse(); err != nil {
		return err
	}
	if !slices.Contains([]string{"text", "csv", "json"}, j.format) {
		return cli.Usagef("--format %s: want text, csv or json", j.format)
	}
	if f.NArg() != 1 {
		return cli.Usagef("homology wants one complex: a file, an input string or - for standard input")
	}
	if _, err := homology.ParseRing(j.field); err != nil {
		return cli.Usagef("--field: %w", err)
	}
	if err := j.Check(); err != nil {
		return err
	}
	return j.OfOne(c, f.Arg(0), func(complex string) error { return j.run(c, complex, f.Changed("field")) })
}

// A homologyRow is the homology group of one dimension.
type homologyRow struct {
	Dimension int      `json:"dimension"`
	Betti     int64    `json:"betti"`
	Torsion   []uint64 `json:"torsion,omitempty"`
}

// A homologyAnswer is the output for one complex.
type homologyAnswer struct {
	Input          string        `json:"input"`
	Simplices      []int64       `json:"simplices"` // by dimension
	Coefficients   string        `json:"coefficients"`
	Implementation string        `json:"implementation"`
	Verdict        string        `json:"verdict"`
	Witness        string        `json:"witness"`
	Program        string        `json:"program"`
	Groups         []homologyRow `json:"homology"`
}

// mostCompared bounds the vertices of a file whose places are compared.
const mostCompared = 1 << 20

// run answers for one complex and writes the confirmed groups.
func (j homologyJob) run(c *cli.Program, input string, given bool) error {
	coefficients := ""
	if given {
		coefficients = j.field
	}
	name, err := ask.HomologyName(input, coefficients)
	if err != nil {
		return notOfImage(input, cli.Usage(err))
	}
	targets := []cli.Target{{Flag: "--out", Path: j.Out}}
	if err := cli.Writable(targets, homology.Inputs{}.Files(name)...); err != nil {
		return err
	}
	start := time.Now()
	shown := report.VisibleText(j.Spooled.WithNames(input))
	q := ask.Homology{
		Question: ask.Question{
			Shown: shown, Impl: j.Impl, Threads: j.Threads, Budget: j.Budget, Memory: host.AvailableMemory,
			Follow: c.Following(j.Quiet),
		},
		By: c.Homology, Name: name,
	}
	p, a, err := q.Answer()
	if errors.As(err, new(ask.UsageError)) {
		err = notOfImage(input, err)
	}
	if err != nil {
		return err
	}
	out := homologyAnswer{
		Input: j.Named(input), Coefficients: p.Over.String(), Implementation: a.By, Verdict: "VERIFIED", Witness: a.Witness,
		Program: cli.Version(), Groups: []homologyRow{},
	}
	if j.format != "text" { // the text format leaves out the count, which may take longer than the answer
		out.Simplices = p.Counts()
	}
	for d, b := range a.Out.Betti {
		out.Groups = append(out.Groups, homologyRow{d, b, a.Out.Torsion[d]})
	}
	if !j.Quiet {
		given := make([]int64, len(p.Tops))
		for d, tops := range p.Tops {
			given[d] = int64(len(tops) / (d + 1))
		}
		fmt.Fprintf(c.Stderr, "eccbench: %s: %s: homology over %s by %s, VERIFIED by %s, %v\n", shown,
			simplicesInWords(given), ringInWords(p.Over), a.By, a.Evidence, quantity.Duration(time.Since(start)))
		if p.Vertices <= mostCompared && len(homology.Inputs{}.Files(name)) > 0 {
			if same, n := p.Coincident(); same > 0 {
				fmt.Fprintf(c.Stderr, "eccbench: %s: %d of %d vertices have the coordinates of another one and are not merged; "+
					"merge them first if the parts should meet\n", shown, same, n)
			}
		}
	}
	return answering.WriteTo(c, j.Out, "homology", func(w io.Writer) error { return j.write(w, out) })
}

// notOfImage returns an error of an input. For an image it suggests the name of the complex of its
// voxels.
func notOfImage(input string, err error) error {
	name, _, _ := datasets.GivenName(input)
	if image, e := name.Open(0); e == nil {
		shape := image.Shape()
		if e := grid.Close(image); e != nil {
			return errors.Join(err, e)
		}
		return cli.Usagef("input %s: an image of %s voxels and no complex: name a level N, and ask for the voxels that "+
			"are not above it by voxels/at=N/of=%s", report.VisibleText(input), shape, report.VisibleText(name.String()))
	}
	return err
}

func (j homologyJob) write(w io.Writer, a homologyAnswer) error {
	if j.format == "json" {
		return answering.WriteJSON(w, a)
	}
	var text strings.Builder
	if j.format == "csv" {
		if !j.bare {
			fmt.Fprintf(&text, "# %s; %s; coefficients %s; by %s, %s by %s; %s\ndimension,betti,torsion\n", a.Input,
				simplicesInWords(a.Simplices), a.Coefficients, a.Implementation, a.Verdict, a.Witness, a.Program)
		}
		for _, r := range a.Groups {
			fmt.Fprintf(&text, "%d,%d,%s\n", r.Dimension, r.Betti, strings.Trim(fmt.Sprint(r.Torsion), "[]"))
		}
	} else {
		for _, r := range a.Groups {
			fmt.Fprintf(&text, "b%d %d", r.Dimension, r.Betti)
			if one := []string{"component", "tunnel", "cavity"}; r.Dimension < len(one) {
				fmt.Fprintf(&text, " %s", quantity.Noun(r.Betti, one[r.Dimension]))
			}
			if len(r.Torsion) > 0 {
				fmt.Fprintf(&text, ", torsion %s", strings.ReplaceAll(strings.Trim(fmt.Sprint(r.Torsion), "[]"), " ", ", "))
			}
			text.WriteByte('\n')
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// simplicesInWords lists the number of simplices of each dimension, without empty dimensions.
func simplicesInWords(counts []int64) string {
	names := []string{"vertex", "edge", "triangle", "tetrahedron"}
	var list []string
	for d, n := range counts {
		if n > 0 && d < len(names) {
			list = append(list, quantity.Count(n, names[d]))
		} else if n > 0 {
			list = append(list, fmt.Sprintf("%d of dimension %d", n, d))
		}
	}
	if len(list) == 0 {
		return "no simplices"
	}
	return strings.Join(list, ", ")
}

// ringInWords names the ring of coefficients.
func ringInWords(r homology.Ring) string {
	switch r {
	case homology.Rationals:
		return "the rationals"
	case homology.Integers:
		return "the integers"
	}
	return fmt.Sprintf("Z/%v", r)
}
