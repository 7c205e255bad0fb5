package measure

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"eccbench/datasets"
	"eccbench/internal/bench"
	"eccbench/internal/cli"
	"eccbench/internal/report"
	"eccbench/internal/runner"
)

// List returns the command list.
func List() cli.Subcommand {
	return cli.Subcommand{
		Name: "list", Brief: "list workloads, implementations and inputs",
		Examples: []string{"eccbench list", "eccbench list --workload all", "eccbench list --format json"},
		Run:      doList,
	}
}

// A question is a workload in the output of list.
type question struct {
	Name string        `json:"workload"`
	Doc  string        `json:"question"`
	Form string        `json:"input,omitempty"` // the form of the names of its inputs
	List []bench.About `json:"implementations"`
	// Kinds describes the inputs of a question that is not about images.
	Kinds []bench.Kind `json:"inputs,omitempty"`
}

func doList(c *cli.Program, f *pflag.FlagSet, parse func() error) error {
	var format, workload string
	var guests cli.Peers
	f.StringVar(&workload, "workload", c.Benches[0].Name(), "the `WORKLOAD` to list, or all")
	f.StringVar(&format, "format", "text", "text, md or json")
	guests.Add(f)
	if err := parse(); err != nil {
		return err
	}
	if err := guests.Join(c, nil); err != nil {
		return err
	}
	style, err := report.ParseFormat(format)
	if err != nil || style == report.CSV {
		return cli.Usagef("--format %s: want text, md or json", format)
	}
	if f.NArg() > 0 {
		return cli.Usagef("unexpected argument %q", f.Arg(0))
	}
	questions, err := questions(c, workload)
	if err != nil {
		return err
	}
	switch style {
	case report.JSON:
		e := json.NewEncoder(c.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(struct {
			Workloads []question           `json:"workloads"`
			Inputs    []datasets.Generator `json:"inputs"`
		}{questions, datasets.Generators()})
	case report.Markdown:
		return listTables(c.Stdout, questions)
	}
	listText(c.Stdout, questions)
	return nil
}

// questions returns one workload with its batch workloads, or all workloads.
func questions(c *cli.Program, workload string) ([]question, error) {
	var list []question
	for _, b := range c.Benches {
		q := question{Name: b.Name(), Doc: b.Question().Doc, List: b.Abouts(), Kinds: b.Question().Kinds}
		if b.Question().Form.Kind != "" {
			q.Form = b.Question().Form.String()
		}
		if workload == "all" || workload == q.Name {
			list = append(list, q)
		}
	}
	if len(list) == 0 {
		_, err := runner.Find(c.Benches, workload)
		return nil, cli.Usagef("--workload %s: %w; eccbench list --workload all names them", workload, err)
	}
	return list, nil
}

func scopes(a bench.About) string {
	var list []string
	for _, s := range a.Scopes {
		list = append(list, string(s))
	}
	return strings.Join(list, " ")
}

// listTables prints all implementations in one table. Implementations that a question shares with one before are one
// row. The inputs of a question that is not about images follow if it is the only question.
func listTables(w io.Writer, questions []question) error {
	first := map[[4]string]string{} // the question of an implementation
	var rows [][]string
	for _, q := range questions {
		rows = append(rows, []string{"**" + q.Name + "**", "", "**" + q.Doc + "**", ""})
		for _, a := range q.List {
			row := []string{a.Name, a.Where, a.Method, a.Source}
			if before, again := first[[4]string(row)]; again {
				row = []string{a.Name, "", "as for " + before, ""}
			} else {
				first[[4]string(row)] = q.Name
			}
			if n := len(rows) - 1; row[1] == "" && slices.Equal(rows[n][1:], row[1:]) {
				rows[n][0] += ", " + a.Name
			} else {
				rows = append(rows, row)
			}
		}
	}
	if err := report.Compact(w, []string{"implementation", "where", "method", "source"}, rows); err != nil {
		return err
	}
	if len(questions) == 1 && len(questions[0].Kinds) > 0 {
		fmt.Fprintln(w)
		if err := listKinds(w, questions[0].Kinds); err != nil {
			return err
		}
	}
	if !ofImages(questions) {
		return nil
	}
	rows = nil
	for _, g := range datasets.Generators() {
		rows = append(rows, []string{g.Name, g.Doc, g.Example})
	}
	fmt.Fprintln(w)
	return report.Compact(w, []string{"input", "description", "example"}, rows)
}

// ofImages reports whether one of the questions is about images, or about inputs made from images.
func ofImages(questions []question) bool {
	return slices.ContainsFunc(questions, func(q question) bool { return len(q.Kinds) == 0 })
}

// listKinds prints the kinds of inputs of a question that is not about images.
func listKinds(w io.Writer, kinds []bench.Kind) error {
	var rows [][]string
	for _, k := range kinds {
		rows = append(rows, []string{k.Name, k.Doc, k.Example})
	}
	return report.Compact(w, []string{"input", "description", "example"}, rows)
}

// listWidth is the greatest width of a line of the list in columns.
const listWidth = 80

func listText(w io.Writer, questions []question) {
	for _, q := range questions {
		fmt.Fprintf(w, "%s: %s\n", q.Name, q.Doc)
		if q.Form != "" {
			fmt.Fprintf(w, "inputs %s\n", q.Form)
		}
		fmt.Fprintln(w)
		for _, a := range q.List {
			fmt.Fprintf(w, "  %-18s %-5s %s\n", a.Name, a.Where, scopes(a))
			wrapped(w, "      ", fmt.Sprintf("%s (%s)", a.Method, a.Source))
			if p := a.Foreign; p != nil {
				wrapped(w, "      ", fmt.Sprintf("%s, %s, %s; %s, sha256 %.16s… %s",
					p.Version, p.Language, p.Licence, p.Line(), p.SHA256, p.Broken))
			}
			for _, o := range a.Options {
				wrapped(w, "      ", fmt.Sprintf("--option %s=%s: %s", o.Key, strings.Join(o.Values, "|"), o.Doc))
			}
		}
		fmt.Fprintln(w)
		if len(q.Kinds) > 0 {
			fmt.Fprintf(w, "inputs of %s, each with an example:\n\n", q.Name)
			for _, k := range q.Kinds {
				fmt.Fprintf(w, "  %-13s %s\n", k.Name, k.Example)
				wrapped(w, "      ", k.Doc)
			}
			fmt.Fprintln(w)
		}
	}
	if !ofImages(questions) {
		return
	}
	fmt.Fprintf(w, "inputs, each with an example:\n\n")
	for _, g := range datasets.Generators() {
		fmt.Fprintf(w, "  %-13s %s\n", g.Name, g.Example)
		wrapped(w, "      ", g.Doc)
	}
}

// wrapped prints words on lines of at most listWidth columns. Every line begins with the indent.
func wrapped(w io.Writer, indent, text string) {
	line := indent
	for i, word := range strings.Fields(text) {
		if i > 0 && len([]rune(line))+1+len([]rune(word)) > listWidth {
			fmt.Fprintln(w, line)
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	fmt.Fprintln(w, line)
}
