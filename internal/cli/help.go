package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/pflag"
)

// helpWidth is the greatest width of a line of help.
const helpWidth = 80

// flagGroups are the sections of the help in order. A flag in no list belongs to the section of the
// question.
var flagGroups = []struct {
	title string
	flags []string
}{
	{"Input", []string{
		"input", "sizes", "dim", "gen", "seed", "smooth", "type", "levels", "shape", "stack", "volume", "array",
		"channel", "strict", "mask", "nan", "pairs", "labels", "group", "ignore-geometry", "truth", "between", "table",
		"data", "from", "store", "rotate", "max-bytes", "row", "base", "cand", "base-peer", "cand-peer", "baseline",
		"confirm",
	}},
	{"Question", nil},
	{"Output", []string{
		"out", "format", "all", "no-header", "plot", "plots", "provenance", "html", "gate", "cells", "machine", "spans",
		"memory", "errors", "keep-failing", "answers", "map", "fail-above", "vectors", "resume", "retry", "gobench",
		"evidence", "claims", "figures", "missing", "save-baseline", "quiet", "wide",
	}},
	{"Machine", []string{
		"impl", "peer", "peers", "judge", "admit", "threads", "time-limit", "check-time", "memory-limit", "device",
		"devices", "isa", "option", "shard", "key", "dry-run", "disk-rate", "processes", "max-samples", "max-time",
		"hot", "blocks", "order-seed",
	}},
}

// typeNames maps the type of a flag to the placeholder of its value. It applies if the usage has no
// name in backquotes.
var typeNames = map[string]string{
	"bool": "", "string": "NAME", "int": "N", "int64": "N", "uint64": "N", "float64": "X", "duration": "TIME",
	"stringSlice": "A,B", "int64Slice": "N,N", "intSlice": "N,N", "stringArray": "NAME", "numbers": "A,B",
}

// printHelp prints the help of a command: its purpose, its examples and its flags by group. The
// most common examples are first.
func printHelp(w io.Writer, s Subcommand, f *pflag.FlagSet) {
	fmt.Fprintf(w, "%s.\n\nUsage:\n  eccbench %s [flags]\n", upperFirst(s.Brief), strings.TrimSpace(s.Name+" "+s.Args))
	common := min(3, len(s.Examples))
	printExamples(w, "Examples", s.Examples[:common])
	groups := make([][]*pflag.Flag, len(flagGroups))
	f.VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden {
			i := groupOf(flag.Name, s.Name)
			groups[i] = append(groups[i], flag)
		}
	})
	for i, group := range groups {
		if len(group) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n%s:\n", flagGroups[i].title)
		for _, flag := range group {
			printFlag(w, flag)
		}
	}
	printExamples(w, "More examples", s.Examples[common:])
}

// printExamples prints commands. A long command takes several lines.
func printExamples(w io.Writer, title string, examples []string) {
	if len(examples) > 0 {
		fmt.Fprintf(w, "\n%s:\n", title)
	}
	for _, e := range examples {
		fmt.Fprintln(w, "  "+strings.Join(wrap(e, helpWidth-8), " \\\n      "))
	}
}

// groupOf returns the index of the group of a flag of a command.
func groupOf(name, command string) int {
	if name == "table" && command == "paper" || name == "seed" && command == "eigenmap" || name == "dim" && command == "pairs" {
		return 1
	}
	for i, g := range flagGroups {
		if slices.Contains(g.flags, name) {
			return i
		}
	}
	return 1
}

// printFlag writes a flag, its value, its usage and its default on lines of helpWidth columns.
func printFlag(w io.Writer, flag *pflag.Flag) {
	value, usage := pflag.UnquoteUsage(flag)
	if !strings.Contains(flag.Usage, "`") {
		value = typeNames[flag.Value.Type()]
	}
	head := "      --" + flag.Name
	if flag.Shorthand != "" {
		head = "  -" + flag.Shorthand + ", --" + flag.Name
	}
	head = strings.TrimRight(head+" "+value, " ")
	if def := flag.DefValue; !slices.Contains([]string{"", "0", "0s", "false", "[]"}, def) {
		usage += " (default " + strings.Trim(def, "[]") + ")"
	}
	const indent = 26
	if n := utf8.RuneCountInString(head); n <= indent-2 {
		head += strings.Repeat(" ", indent-n)
	} else {
		head += "\n" + strings.Repeat(" ", indent)
	}
	fmt.Fprintln(w, head+strings.Join(wrap(usage, helpWidth-indent), "\n"+strings.Repeat(" ", indent)))
}

// wrap returns the words of a text as lines of at most width columns.
func wrap(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width:
			lines, line = append(lines, line), word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}
