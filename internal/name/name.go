// Package name is the one grammar of the printable names of inputs,
//
//	kind/key=value/key=value…
//
// where path=PLACE and of=NAME come last and contain the rest of the string, with its slashes. The
// packages that read names define the kinds and keys.
package name

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The keys whose value is the rest of a name.
const (
	Path = "path" // a file or folder
	Of   = "of"   // the name of the input that this one is made of
)

// A Name is a name taken apart. Its methods change nothing.
type Name struct {
	Kind  string
	Pairs []Pair
}

// A Pair is a key with its value.
type Pair struct{ Key, Value string }

// last reports whether a key holds the rest of a name.
func last(key string) bool { return key == Path || key == Of }

// Quoted returns a part of a name for an error message: unchanged if it prints in one line,
// otherwise quoted.
func Quoted(part string) string {
	if strings.ContainsFunc(part, func(r rune) bool { return r == utf8.RuneError || !strconv.IsPrint(r) }) {
		return strconv.Quote(part)
	}
	return part
}

// ErrForm is the error of a text that is no name, such as the path noise/scan.npy.
var ErrForm = errors.New("is not key=value")

// KindOf returns the kind of a name with keys, or "" for a text of another form, such as the path noise/scan.npy.
func KindOf(input string) string {
	n, err := Parse(input)
	if len(n.Pairs) == 0 || errors.Is(err, ErrForm) {
		return ""
	}
	return n.Kind
}

// Parse parses a name. Its errors are one line, and come with the keys before.
func Parse(input string) (Name, error) {
	kind, rest, more := strings.Cut(input, "/")
	n := Name{Kind: kind}
	for more {
		var item string
		if key, _, ok := strings.Cut(rest, "="); ok && last(key) {
			item, rest, more = rest, "", false
		} else {
			item, rest, more = strings.Cut(rest, "/")
		}
		key, value, ok := strings.Cut(item, "=")
		if !ok || key == "" {
			return n, fmt.Errorf("input %q: %q %w", input, item, ErrForm)
		}
		if _, twice := n.Get(key); twice {
			return n, fmt.Errorf("input %q: %s is given twice", input, Quoted(key))
		}
		n.Pairs = append(n.Pairs, Pair{key, value})
	}
	return n, nil
}

// String is the name, whose Parse is the same.
func (n Name) String() string {
	var b strings.Builder
	b.WriteString(n.Kind)
	for _, p := range n.Pairs {
		b.WriteString("/" + p.Key + "=" + p.Value)
	}
	return b.String()
}

// Get is the value of a key, and whether it was given.
func (n Name) Get(key string) (value string, given bool) {
	for _, p := range n.Pairs {
		if p.Key == key {
			return p.Value, true
		}
	}
	return "", false
}

// With returns the name with one key set, or without it if value is "".
func (n Name) With(key, value string) Name {
	pairs := slices.Clone(n.Pairs)
	at := slices.IndexFunc(pairs, func(p Pair) bool { return p.Key == key })
	switch {
	case at >= 0 && value == "":
		pairs = slices.Delete(pairs, at, at+1)
	case at >= 0:
		pairs[at].Value = value
	case value != "":
		pairs = append(pairs, Pair{key, value})
	}
	// A key after such a key would be read as part of its value.
	ends := slices.DeleteFunc(slices.Clone(pairs), func(p Pair) bool { return !last(p.Key) })
	pairs = slices.DeleteFunc(pairs, func(p Pair) bool { return last(p.Key) })
	return Name{n.Kind, append(pairs, ends...)}
}

// A Form describes the names of one kind of input that is made of another input:
// KIND/key=value…/of=NAME. The keys are in the form's order, and only optional ones may be missing.
type Form struct {
	Kind string
	Keys []Key
}

// A Key is a number in a name: a whole number, or any decimal if it is Real. On a command line it is a flag.
type Key struct {
	Key, Doc string
	Min, Max float64 // 0 for Max means 2⁵³, up to which float64 has all whole numbers
	Default  float64 // of the flag
	Real     bool
	Optional bool // a name that has the default leaves the key out
}

// String returns the form, such as "batch/count=N/of=IMAGE". N is a whole number, X a decimal.
func (f Form) String() string {
	s := f.Kind
	for _, k := range f.Keys {
		shown := "/" + k.Key + "=N"
		if k.Real {
			shown = "/" + k.Key + "=X"
		}
		if k.Optional {
			shown = "[" + shown + "]"
		}
		s += shown
	}
	return s + "/of=IMAGE"
}

// Parse returns the value of each key in a name of the form, and the name of the image. Names of earlier releases are
// read as Current spells them.
func (f Form) Parse(s string) (values map[string]float64, of string, err error) {
	n, err := Parse(s)
	if err != nil {
		return nil, "", err
	}
	n.respell()
	of, ok := n.Get(Of)
	left := 0 // out
	for _, k := range f.Keys {
		if _, given := n.Get(k.Key); k.Optional && !given {
			left++
		}
	}
	if n.Kind != f.Kind || !ok || of == "" || len(n.Pairs) != len(f.Keys)-left+1 {
		return nil, "", fmt.Errorf("input %q: want %v", s, f)
	}
	values = map[string]float64{}
	for _, k := range f.Keys {
		text, given := n.Get(k.Key)
		if k.Optional && !given {
			values[k.Key] = k.Default
			continue
		}
		v, err := parseDecimal(text)
		if err != nil || !k.Accepts(v) {
			return nil, "", fmt.Errorf("input %q: want %v with %s from %s", s, f, k.Key, k.Range())
		}
		if k.Optional && v == k.Default {
			return nil, "", fmt.Errorf("input %q: %s=%s is what is meant without it; leave it out", s, k.Key, text)
		}
		values[k.Key] = v
	}
	return values, of, nil
}

// Accepts reports whether a number is in the key's range, and whole unless the key is Real.
func (k Key) Accepts(v float64) bool {
	return v >= k.Min && v <= k.most() && (k.Real || v == math.Trunc(v))
}

// Range is the key's range as text.
func (k Key) Range() string { return Decimal(k.Min) + " to " + Decimal(k.most()) }

func (k Key) most() float64 {
	if k.Max == 0 {
		return 1 << 53
	}
	return k.Max
}

// NameOf is the name with these values, the others' defaults, of something.
func (f Form) NameOf(values map[string]float64, of string) string {
	n := Name{Kind: f.Kind}
	for _, k := range f.Keys {
		v, ok := values[k.Key]
		if !ok {
			v = k.Default
		}
		if k.Optional && v == k.Default {
			continue
		}
		n.Pairs = append(n.Pairs, Pair{k.Key, f.Value(k.Key, v)})
	}
	return n.With(Of, of).String()
}

// Value returns the spelling of a key's number in names of the form.
func (f Form) Value(key string, v float64) string {
	s := Decimal(v)
	if current(f.Kind, key, s) != s {
		return pointed(v)
	}
	return s
}
