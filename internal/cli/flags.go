package cli

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"eccbench/internal/ask"
	"eccbench/internal/decimal"
	"eccbench/internal/grid"
)

// numbers is the value of a flag that takes numbers separated by commas.
type numbers struct{ list *[]grid.Number }

// NumbersVar adds a flag for a list of numbers that are compared exactly.
func NumbersVar(f *pflag.FlagSet, list *[]grid.Number, name, usage string) {
	f.Var(numbers{list}, name, usage)
}

// Set parses a list and appends its numbers.
func (n numbers) Set(text string) error {
	var some []grid.Number
	for _, item := range strings.Split(text, ",") {
		if item = strings.TrimSpace(item); item == "" {
			return errors.New("a value is missing; want numbers such as 40,100")
		}
		v, err := grid.ParseNumber(item)
		if err != nil {
			return fmt.Errorf("%w; want numbers such as 40,100", err)
		}
		some = append(some, v)
	}
	*n.list = append(*n.list, some...)
	return nil
}

func (n numbers) String() string {
	if n.list == nil {
		return ""
	}
	return Listed(*n.list)
}

// Type returns the name of the value in the help.
func (n numbers) Type() string { return "numbers" }

// Listed formats numbers as the value of a flag.
func Listed(list []grid.Number) string {
	var text []string
	for _, n := range list {
		text = append(text, n.String())
	}
	return strings.Join(text, ",")
}

// strayNumber returns an error if an argument is a number that probably belongs to a flag's list.
func strayNumber(f *pflag.FlagSet) (err error) {
	f.Visit(func(flag *pflag.Flag) {
		if _, list := flag.Value.(numbers); !list || err != nil {
			return
		}
		for _, arg := range f.Args() {
			if _, e := grid.ParseNumber(arg); e != nil {
				continue
			}
			if _, e := os.Stat(arg); e != nil {
				err = Usagef("%s is no file; the values of --%s are separated by commas: --%s %s,%s",
					arg, flag.Name, flag.Name, flag.Value, arg)
				return
			}
		}
	})
	return err
}

// setFlag returns the function that sets a flag of a command line. These are errors, because the
// command would answer another question in silence: no value, as of an unset variable of a script; the
// next flag in place of a forgotten value; a number in another base; a second value of a flag that is no list.
func setFlag(f *pflag.FlagSet) func(*pflag.Flag, string) error {
	return func(flag *pflag.Flag, value string) error {
		if value == "" {
			return Usagef("--%s: its value is empty; give one, or leave the flag out", flag.Name)
		}
		if isFlag(f, value) {
			return Usagef("--%s %s: %s is a flag, and not a value of --%s; a file of this name is ./%s",
				flag.Name, value, value, flag.Name, value)
		}
		if value == "-" && slices.Contains(outputs, flag.Name) {
			want := "want the name of a file"
			if flag.Name == "out" && flag.DefValue == "" {
				want = "leave it out for standard output"
			}
			return Usagef("--%s -: %s; a file of this name is ./-", flag.Name, want)
		}
		if !isDecimal(flag.Value.Type(), value) {
			return Usagef("--%s %s: want a decimal number, without underscores or zeros in front", flag.Name, value)
		}
		if flag.Value.Type() == "float64" && !isFinite(value) {
			return Usagef("--%s %s: want a finite number", flag.Name, value)
		}
		before, again := flag.Value.String(), flag.Changed
		if err := f.Set(flag.Name, value); err != nil {
			return err
		}
		_, slice := flag.Value.(pflag.SliceValue)
		_, list := flag.Value.(numbers)
		if again && !slice && !list && flag.Value.String() != before {
			return Usagef("--%s %s: it is given twice, first as %s; want one value", flag.Name, value, before)
		}
		return nil
	}
}

// isDecimal reports whether the numbers of a value of a type, if it has some, are decimal. pflag also has underscores
// and hexadecimal, octal and binary numbers: 010 is 8.
func isDecimal(kind, value string) bool {
	switch kind {
	case "int", "int64", "uint64", "int64Slice":
		for word := range strings.SplitSeq(value, ",") {
			digits := strings.TrimLeft(strings.TrimSpace(word), "+-")
			if len(digits) > 1 && digits[0] == '0' || strings.Contains(digits, "_") {
				return false
			}
		}
	case "float64":
		return !strings.ContainsAny(value, "_xX")
	}
	return true
}

// isFinite reports whether a value is neither NaN nor infinite. No flag of one real number accepts these.
func isFinite(value string) bool {
	v, _ := decimal.ParseFloat(value, 64)
	return !math.IsNaN(v) && !math.IsInf(v, 0)
}

// outputs are the flags that name an output file or folder.
var outputs = []string{"out", "errors", "map", "plot", "plots", "provenance", "vectors", "html", "gobench",
	"save-baseline"}

// isFlag reports whether a value has the form of a flag of the command.
func isFlag(f *pflag.FlagSet, value string) bool {
	if name, long := strings.CutPrefix(value, "--"); long {
		name, _, _ = strings.Cut(name, "=")
		return f.Lookup(name) != nil
	}
	return len(value) == 2 && value[0] == '-' && f.ShorthandLookup(value[1:]) != nil
}

// validValues describes the valid values of each type of flag.
var validValues = map[string]string{
	"bool": "true or false", "duration": "a time with its unit, such as 30s or 5m",
	"int": "a whole number", "int64": "a whole number", "uint64": "a whole number, 0 or more", "float64": "a number",
	"int64Slice": "whole numbers such as 16,64", "stringSlice": "a comma list",
}

// flagError rewords an error of pflag about the flags of a command.
func flagError(s Subcommand, f *pflag.FlagSet, err error) error {
	var invalid *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	switch {
	case errors.As(err, new(ask.UsageError)):
		return err
	case errors.As(err, &invalid):
		flag := invalid.GetFlag()
		reason := invalid.Unwrap().Error()
		if want, ok := validValues[flag.Value.Type()]; ok {
			reason = "want " + want
		}
		return Usagef("--%s %s: %s", flag.Name, invalid.GetValue(), reason)
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "":
		name := unknown.GetSpecifiedName()
		if hint := flagHint(f, name); hint != "" {
			return Usagef("unknown flag: --%s; %s", name, hint)
		}
	}
	return Usagef("%w; see eccbench %s --help", err, s.Name)
}

// synonyms map flags of other programs to the flags with the same effect.
var synonyms = []struct {
	words []string
	flag  string // applies to commands with this flag
	hint  string
}{
	{[]string{"threshold", "thresholds", "thr", "value", "values", "isovalue", "iso"}, "at",
		"the values of sets are --at 100,200"},
	{[]string{"connectivity", "adjacency", "neighbours", "neighbors"}, "construction",
		"--construction T is connectivity 26 (8 in 2D), --construction V is 6 (4)"},
	{[]string{"gpu", "cuda", "device"}, "impl", "--impl chooses an implementation on a GPU; eccbench list names them"},
	{[]string{"output", "output-file", "outfile", "save"}, "out", "the file to write is --out FILE"},
	{[]string{"n-jobs", "jobs", "cores", "nproc", "num-threads", "workers"}, "threads",
		"the number of cores is --threads N"},
	{[]string{"upper", "reverse", "descending", "super"}, "superlevel",
		"sets of the values at or above a level are --superlevel"},
	{[]string{"wrap", "torus", "circular", "boundary"}, "periodic",
		"axes that are closed to a ring are --periodic x,y,z"},
	{[]string{"dtype", "datatype"}, "type", "the element type of a raw file is --type"},
	{[]string{"bins", "num-levels", "nbins"}, "levels", "evenly spaced levels are --levels N"},
	{[]string{"timeout"}, "time-limit", "the time limit is --time-limit, such as 5m"},
	{[]string{"silent"}, "quiet", "nothing on standard error is --quiet"},
	{[]string{"series", "slices", "folder"}, "stack", "a volume of 2D images is --stack"},
	{[]string{"version"}, "", "the version is eccbench --version"},
}

// flagHint suggests a flag for an unknown name.
func flagHint(f *pflag.FlagSet, name string) string {
	for _, s := range synonyms {
		for _, word := range s.words {
			if word == strings.ToLower(name) && (s.flag == "" || f.Lookup(s.flag) != nil) {
				return s.hint
			}
		}
	}
	var names []string
	f.VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden {
			names = append(names, flag.Name)
		}
	})
	if like := Closest(name, names); like != "" {
		return fmt.Sprintf("did you mean --%s?", like)
	}
	return ""
}

// Closest returns the name that is probably meant by a word, or "".
func Closest(word string, names []string) string {
	best, least := "", 1+min(2, len(word)/3)
	for _, name := range names {
		if d := distance(strings.ToLower(word), name); d < least {
			best, least = name, d
		}
	}
	return best
}

// distance returns the edit distance of two words: the fewest letters to insert, delete, replace or
// swap with the next one (optimal string alignment).
func distance(a, b string) int {
	before, last, now := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for k := range now {
		now[k] = k
	}
	for i := range len(a) {
		before, last, now = last, now, before
		now[0] = i + 1
		for k := range len(b) {
			cost := 1
			if a[i] == b[k] {
				cost = 0
			}
			now[k+1] = min(last[k]+cost, last[k+1]+1, now[k]+1)
			if i > 0 && k > 0 && a[i] == b[k-1] && a[i-1] == b[k] {
				now[k+1] = min(now[k+1], before[k-1]+1)
			}
		}
	}
	return now[len(b)]
}
