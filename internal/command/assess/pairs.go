package assess

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"eccbench/datasets/files"
	"eccbench/internal/cli"
	"eccbench/internal/command/answering"
	"eccbench/internal/decimal"
	"eccbench/internal/quantity"
	"eccbench/internal/regular"
	"eccbench/internal/remote"
	"eccbench/internal/stats"
	"eccbench/internal/workloads/assess"
)

// A pairOfFiles is one pair of many. The method that made the prediction is "" if unknown.
type pairOfFiles struct{ pred, truth, method string }

// manyPairs returns the pairs of a CSV file or of two folders, or nil to compare one pair.
func (j assessJob) manyPairs(f *pflag.FlagSet) (list []pairOfFiles, err error) {
	switch {
	case j.pairs != "":
		list, err = pairsOfFile(j.pairs)
	case !j.In.Stack && holdsFiles(f.Arg(0)) && holdsFiles(f.Arg(1)):
		list, err = pairsOfFolders(f.Arg(0), f.Arg(1))
	default:
		return nil, nil
	}
	if err == nil && (j.errors != "" || j.mapped != "" || j.plot != "") {
		err = errors.New("--errors, --map and --plot apply to one pair: leave them out")
	}
	if err == nil && len(list) == 0 {
		err = errors.New("no pairs: want at least one")
	}
	if err != nil {
		return nil, cli.Usage(err)
	}
	return list, nil
}

// holdsFiles reports whether a path is a folder but no Zarr image.
func holdsFiles(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir() && !files.IsZarr(path)
}

// pairsOfFile reads lines of PRED,TRUTH or PRED,TRUTH,METHOD. Paths are relative to the file.
func pairsOfFile(path string) (list []pairOfFiles, err error) {
	f, _, err := regular.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--pairs: %w", err)
	}
	defer f.Close()
	r := csv.NewReader(regular.Text(f))
	r.Comment, r.FieldsPerRecord, r.TrimLeadingSpace = '#', -1, true
	for first := true; ; first = false {
		line, err := r.Read()
		if err == io.EOF {
			return list, nil
		}
		if err != nil {
			return nil, fmt.Errorf("--pairs %s: %w", path, err)
		}
		at, _ := r.FieldPos(0)
		if len(line) < 2 || len(line) > 3 || strings.Contains(strings.Join(line, ""), "\r") {
			return nil, fmt.Errorf("--pairs %s: line %d has %s%s: want PRED,TRUTH or PRED,TRUTH,METHOD", path,
				at, quantity.Count(len(line), "column"), foreign(line))
		}
		if k := slices.IndexFunc(line[:2], func(s string) bool { return strings.TrimSpace(s) == "" }); k >= 0 {
			return nil, fmt.Errorf("--pairs %s: line %d has no %s: want PRED,TRUTH or PRED,TRUTH,METHOD", path, at,
				[]string{"prediction", "truth"}[k])
		}
		if title := strings.ToLower(line[0]); first && (title == "pred" || title == "prediction") &&
			strings.EqualFold(line[1], "truth") {
			continue
		}
		if err := remote.Conceal(line); err != nil {
			return nil, fmt.Errorf("--pairs %s: line %d: %w", path, at, err)
		}
		line = append(line, "")
		for k := range 2 {
			if !filepath.IsAbs(line[k]) && !strings.Contains(line[k], "://") {
				line[k] = filepath.Join(filepath.Dir(path), line[k])
			}
		}
		list = append(list, pairOfFiles{line[0], line[1], line[2]})
	}
}

// foreign returns the reason why a line of some spreadsheets has another number of columns, or "".
func foreign(line []string) string {
	switch text := strings.Join(line, ""); {
	case strings.Contains(text, "\r"):
		return " because lines end in carriage returns alone; save the file with line feeds"
	case strings.ContainsAny(text, ";\t"):
		return " because semicolons or tabs separate them; save the file with commas"
	}
	return ""
}

// pairsOfFolders pairs the files of equal names in two folders.
func pairsOfFolders(preds, truths string) (list []pairOfFiles, err error) {
	for _, folders := range [][2]string{{truths, preds}, {preds, truths}} {
		entries, err := os.ReadDir(folders[0])
		if err != nil {
			return nil, err
		}
		list = nil
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), ".") {
				continue
			}
			own, other := filepath.Join(folders[0], e.Name()), filepath.Join(folders[1], e.Name())
			if _, err := os.Stat(other); errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("%s: %s has no file of this name: add or remove one, or list the pairs "+
					"in a file for --pairs", own, folders[1])
			}
			list = append(list, pairOfFiles{own, other, ""})
		}
	}
	return list, nil
}

// many compares many pairs and writes their numbers; a table shows only summaries.
func (j assessJob) many(c *cli.Program, pairs []pairOfFiles) error {
	if err := cli.Writable([]cli.Target{{Flag: "--out", Path: j.Out}}, j.pairs); err != nil {
		return err
	}
	var list []assessed
	for _, p := range pairs {
		paths, spooled, err := c.Spool([]string{p.pred, p.truth})
		if err != nil {
			return err
		}
		one := j
		one.Spooled = spooled
		a, err := one.compare(c, paths[0], paths[1])
		err = spooled.ErrorWithNames(err)
		spooled.Close()
		if err != nil {
			return err
		}
		a.method, a.pair = p.method, nil
		list = append(list, a)
	}
	if slices.ContainsFunc(list, func(a assessed) bool { return a.sizes == nil || a.dims != list[0].dims }) {
		for i := range list { // all rows have the same columns
			list[i].sizes = nil
		}
	}
	j.complete(list)
	write := func(w io.Writer) error { return writeMany(w, j.format, list) }
	if err := answering.WriteTo(c, j.Out, "comparisons", write); err != nil {
		return err
	}
	return j.failAbove(list)
}

// complete gives all pairs the same sets, so that means and tests are about all of them. Both masks
// of a label that a pair lacks are empty, and the union of all labels equals the only one.
func (j assessJob) complete(list []assessed) {
	var names []string
	several := false
	for _, a := range list {
		for _, set := range a.sets[:len(a.sets)-len(j.groups)] {
			if set.Name == assess.Everything {
				several = true
			} else if !slices.Contains(names, set.Name) {
				names = append(names, set.Name)
			}
		}
	}
	if len(j.labels) == 0 {
		slices.SortFunc(names, func(a, b string) int {
			v, _ := decimal.ParseFloat(a, 64) // the names of labels are numbers
			w, _ := decimal.ParseFloat(b, 64)
			return cmp.Compare(v, w)
		})
	}
	if several || len(names) > 1 {
		names = append(names, assess.Everything)
	}
	for _, g := range j.groups {
		names = append(names, g.Name)
	}
	for i := range list {
		list[i].choose(names)
	}
}

// choose arranges the sets in the order of these names, and adds missing ones.
func (a *assessed) choose(names []string) {
	old, missing, rows := *a, len(a.sets), len(a.constructions)
	sized, patched := a.sizes != nil, a.patches != nil
	a.sets, a.answer.Out, a.sizes, a.patches = nil, nil, nil, nil
	old.answer.Out = append(old.answer.Out, assess.Comparison{}) // both masks are empty
	old.sizes = append(old.sizes, make([]float64, len(sizeColumns(a.dims))))
	old.patches = append(old.patches, slices.Repeat([][]float64{make([]float64, len(patchColumns))}, rows)...)
	for _, name := range names {
		at := slices.IndexFunc(old.sets, func(s assess.Set) bool { return s.Name == name })
		if at < 0 && name == assess.Everything {
			at = 0
		} else if at < 0 {
			at = missing
		}
		a.sets, a.answer.Out = append(a.sets, assess.Set{Name: name}), append(a.answer.Out, old.answer.Out[at])
		if sized {
			a.sizes = append(a.sizes, old.sizes[at])
		}
		if patched {
			a.patches = append(a.patches, old.patches[rows*at:][:rows]...)
		}
	}
}

// writeMany writes the comparisons of many pairs.
func writeMany(w io.Writer, format string, list []assessed) error {
	summary, tests, untested := summarise(list)
	title := "assess: " + quantity.Count(len(list), "pair")
	switch format {
	case "json":
		var documents []assessDocument
		for _, a := range list {
			documents = append(documents, a.document())
		}
		return answering.WriteJSON(w, struct {
			Pairs   []assessDocument `json:"pairs"`
			Summary []assessSummary  `json:"summary"`
			Tests   []assessTest     `json:"tests"`
			// Untested is the reason why two methods have no test.
			Untested string `json:"untested,omitempty"`
		}{documents, summary, tests, untested})
	case "csv":
		lines := [][]string{append([]string{"pred", "truth", "method", "label", "connectivity"}, list[0].columns()...)}
		for _, a := range list {
			for _, row := range a.rows() {
				lines = append(lines, append([]string{a.predName, a.truth, a.method}, row.cells()...))
			}
		}
		return writeCSV(w, fmt.Sprintf("%s, VERIFIED by %s, %s", title, list[0].answer.Witness, cli.Version()), lines)
	}
	about := preamble(list[0])
	if untested != "" {
		about += "no signed-rank tests: " + untested + "\n"
	}
	if slices.ContainsFunc(summary, func(s assessSummary) bool { return strings.HasSuffix(s.Column, "_min") }) {
		about += "a matching error is between _min and _max: bounds have no interval and no test\n"
	}
	return writeTables(w, format, title, about, summaryTables(summary, tests), "")
}

// summaryTables returns the table of many pairs, and the table of the tests of two methods.
func summaryTables(summary []assessSummary, tests []assessTest) []assessTable {
	t := assessTable{header: []string{"label", "conn.", "number", "pairs", "mean", "95 % interval", "median"}}
	for _, s := range summary {
		label := s.Label
		if s.Method != "" {
			label = s.Method + ": " + label
		}
		interval := "—"
		if s.Low != nil {
			interval = short(*s.Low) + " to " + short(*s.High)
		}
		t.cells = append(t.cells, []string{label, shortConnectivity(s.Connectivity), s.Column, fmt.Sprint(s.Pairs),
			short(s.Mean), interval, short(s.Median)})
	}
	if len(tests) == 0 {
		return []assessTable{t}
	}
	u := assessTable{header: []string{"label", "conn.", "number", "pairs", "p", fmt.Sprintf("p of %d tests", len(tests))}}
	u.title = fmt.Sprintf("Wilcoxon signed-rank tests of %s against %s, two-sided; p of all tests by Holm",
		tests[0].Methods[0], tests[0].Methods[1])
	for _, s := range tests {
		u.cells = append(u.cells, []string{s.Label, shortConnectivity(s.Connectivity), s.Column, fmt.Sprint(s.Pairs),
			short(s.Alone), short(s.P)})
	}
	return []assessTable{t, u}
}

func short(v float64) string { return fmt.Sprintf("%.4g", v) }

// shortConnectivity returns a connectivity, or a dash for numbers that do not depend on it.
func shortConnectivity(n int) string {
	if n == 0 {
		return "—"
	}
	return strconv.Itoa(n)
}

// summarised lists the columns that are summarised over many pairs. The lower bound of a matching
// error is left out if it equals the upper one in all pairs.
var summarised = []string{"dice", "chi_error", "b0_error", "b1_error", "b2_error", "matching_error0_min",
	"matching_error0_max", "matching_error1_min", "matching_error1_max", "matching_error2_min", "matching_error2_max",
	"patch_chi_error", "patch_b0_error", "patch_b1_error", "patch_b2_error"}

// An assessSummary summarises one number over many pairs: the mean with a bootstrap interval, and
// the median.
type assessSummary struct {
	Method       string  `json:"method,omitempty"`
	Label        string  `json:"label"`
	Connectivity int     `json:"connectivity,omitempty"` // none for Dice
	Column       string  `json:"column"`
	Pairs        int     `json:"pairs"`
	Mean         float64 `json:"mean"`
	// Low and High bound the mean. They are absent for fewer than six pairs, and for bounds.
	Low    *float64 `json:"low,omitempty"`
	High   *float64 `json:"high,omitempty"`
	Median float64  `json:"median"`
}

// An assessTest is a Wilcoxon signed-rank test between the numbers of two methods for the same truths.
type assessTest struct {
	Methods      [2]string `json:"methods"`
	Label        string    `json:"label"`
	Connectivity int       `json:"connectivity,omitempty"` // none for Dice
	Column       string    `json:"column"`
	Pairs        int       `json:"pairs"`
	P            float64   `json:"p"`       // two-sided, adjusted by Holm for all tests
	Alone        float64   `json:"p_alone"` // not adjusted
}

// A summaryKey identifies the numbers that one summary covers.
type summaryKey struct {
	method, label string
	connectivity  int
	column        string
}

// A pairNumber is a number of a pair of images, with the name of the truth.
type pairNumber struct {
	truth string
	value float64
}

func (n pairNumber) compare(m pairNumber) int {
	return cmp.Or(cmp.Compare(n.truth, m.truth), cmp.Compare(n.value, m.value))
}

// numbersOf returns the numbers of all pairs by key, in the order of their truths. It also returns the keys and
// methods in order.
func numbersOf(list []assessed) (values map[summaryKey][]pairNumber, order []summaryKey, methods []string) {
	values = map[summaryKey][]pairNumber{}
	for _, a := range list {
		if !slices.Contains(methods, a.method) {
			methods = append(methods, a.method)
		}
		for r, row := range a.rows() {
			for at, column := range row.columns {
				v := row.values[at]
				if !slices.Contains(summarised, column) || math.IsNaN(v) || a.dims == 2 && strings.Contains(column, "2") {
					continue
				}
				k := summaryKey{a.method, row.label, row.connectivity, column}
				if column == "dice" { // the same in both connectivities
					if k.connectivity = 0; r%len(a.constructions) > 0 {
						continue
					}
				}
				if values[k] == nil {
					order = append(order, k)
				}
				n := pairNumber{a.truth, v}
				place, _ := slices.BinarySearchFunc(values[k], n, pairNumber.compare)
				values[k] = slices.Insert(values[k], place, n)
			}
		}
	}
	return values, order, methods
}

// limits reports, for each bound of matching errors and all methods, whether it differs from the
// other bound in a pair.
func limits(values map[summaryKey][]pairNumber) map[summaryKey]bool {
	differ := map[summaryKey]bool{}
	for low, numbers := range values {
		name, isLow := strings.CutSuffix(low.column, "_min")
		if !isLow {
			continue
		}
		high := low
		high.column = name + "_max"
		open := !slices.Equal(numbers, values[high])
		low.method, high.method = "", ""
		differ[low], differ[high] = differ[low] || open, differ[high] || open
	}
	return differ
}

// summarise summarises pairs by method, label, connectivity and column, and tests two methods. It
// returns the reason if two methods cannot be tested.
func summarise(list []assessed) (summary []assessSummary, tests []assessTest, untested string) {
	values, order, methods := numbersOf(list)
	two := len(methods) == 2 && !slices.Contains(methods, "")
	switch n := len(methods); {
	case two:
		untested = repeated(list)
	case n > 1 && slices.Contains(methods, ""):
		untested = "some pairs have no method; name that of each"
	case n > 1:
		untested = fmt.Sprintf("%d methods; want two", n)
	}
	var p []float64
	differ := limits(values)
	for _, k := range order {
		shared := k
		shared.method = ""
		open := differ[shared]
		if strings.HasSuffix(k.column, "_min") && !open {
			continue
		}
		var x []float64
		for _, n := range values[k] {
			x = append(x, n.value)
		}
		s := assessSummary{Method: k.method, Label: k.label, Connectivity: k.connectivity, Column: k.column,
			Pairs: len(x), Mean: stats.Mean(x), Median: stats.Median(x)}
		if lo, hi := stats.Bootstrap(x); !open && !math.IsInf(lo, 0) {
			s.Low, s.High = &lo, &hi
		}
		summary = append(summary, s)
		if !two || k.method != methods[0] || untested != "" || open {
			continue
		}
		other := k
		other.method = methods[1]
		if n, probability := signedRank(values[k], values[other]); n > 0 {
			p = append(p, probability)
			tests = append(tests, assessTest{[2]string(methods), k.label, k.connectivity, k.column, n, 0, probability})
		}
	}
	for i, adjusted := range stats.Holm(p) {
		tests[i].P = adjusted
	}
	if two && len(tests) == 0 && untested == "" {
		untested = fmt.Sprintf("%s and %s have no truth in common", methods[0], methods[1])
	}
	return summary, tests, untested
}

// repeated returns a sentence about a truth that a method has twice, or "". Predictions of one truth are no
// independent pairs.
func repeated(list []assessed) string {
	seen := map[[2]string]bool{}
	for _, a := range list {
		k := [2]string{a.method, a.truth}
		if seen[k] {
			return fmt.Sprintf("%s has several predictions of %s, which are not independent; want one for each truth",
				a.method, a.truth)
		}
		seen[k] = true
	}
	return ""
}

// signedRank returns the number of truths with numbers of both methods, and the two-sided p-value of
// the differences.
func signedRank(a, b []pairNumber) (n int, p float64) {
	of := map[string]float64{}
	for _, w := range b {
		of[w.truth] = w.value
	}
	var d, negated []float64
	largest := 0.0
	for _, v := range a {
		if w, ok := of[v.truth]; ok {
			d, largest = append(d, v.value-w), max(largest, math.Abs(v.value), math.Abs(w))
		}
	}
	d = joinTies(d, rounding*largest)
	for _, v := range d {
		negated = append(negated, -v)
	}
	return len(d), min(1, 2*min(stats.SignedRank(d), stats.SignedRank(negated)))
}

// rounding is far above the relative error of a difference of two quotients, such as Dice.
const rounding = 1e-12

// joinTies returns whole numbers with the signs and the order of some differences. They are equal
// where magnitudes are at most apart, and 0 where they are at most that.
func joinTies(d []float64, apart float64) []float64 {
	order := []float64{0}
	for _, v := range d {
		order = append(order, math.Abs(v))
	}
	slices.Sort(order)
	rank := map[float64]float64{}
	for i, v := range order[1:] {
		if rank[v] = rank[order[i]]; v-order[i] > apart {
			rank[v]++
		}
	}
	ranks := make([]float64, len(d))
	for i, v := range d {
		ranks[i] = math.Copysign(rank[math.Abs(v)], v)
	}
	return ranks
}
