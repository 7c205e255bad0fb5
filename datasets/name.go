package datasets

import (
	"slices"

	"eccbench/internal/name"
)

// A Name is a parsed input string, GENERATOR/key=value/key=value…. Keys may be in any order, except
// that path is last and includes the rest of the string with its slashes.
type Name struct {
	Generator string
	given     []name.Pair
}

// ParseName parses an input string. Its one-line error reports an unknown generator or key, a
// repeated key, a missing required key, or an invalid value. It opens no file.
func ParseName(s string) (Name, error) {
	n, err := split(s)
	if err != nil {
		return Name{}, err
	}
	if _, err := resolve(n); err != nil {
		return Name{}, err
	}
	return n, nil
}

func split(s string) (Name, error) {
	n, err := name.Parse(s)
	return Name{n.Kind, n.Pairs}, err
}

// String returns the canonical spelling. Keys are in the generator's order, and every parameter
// with a value is spelled out, including defaults. Numbers are in their shortest form. Equal images
// have equal strings. A Name that With made invalid is spelled as it was given.
func (n Name) String() string {
	pairs := n.given
	if r, err := resolve(n); err == nil {
		pairs = r.canonical
	}
	return name.Name{Kind: n.Generator, Pairs: pairs}.String()
}

// Get returns the value of a parameter as String spells it: a default if none was given, and "" for
// a parameter without a value.
func (n Name) Get(key string) string {
	pairs := n.given
	if r, err := resolve(n); err == nil {
		pairs = r.canonical
	}
	return find(pairs, key)
}

// With returns the name with one parameter set, or removed if value is "". The defaults of the
// others follow: a noise without levels has 256 of them after With("type", "uint8"). The result is
// checked when it is opened.
func (n Name) With(key, value string) Name {
	with := name.Name{Kind: n.Generator, Pairs: n.given}.With(key, value)
	return Name{with.Kind, with.Pairs}
}

// FromFiles reports whether the image is read from a user's files.
func (n Name) FromFiles() bool {
	return slices.ContainsFunc(generators(), func(g generator) bool { return g.Name == n.Generator && g.FromFiles })
}

// Canonical returns the canonical spelling of an input string, see Name.String, or an error of one
// line.
func Canonical(s string) (string, error) {
	n, err := ParseName(s)
	if err != nil {
		return "", err
	}
	return n.String(), nil
}

func find(pairs []name.Pair, key string) string {
	v, _ := name.Name{Pairs: pairs}.Get(key)
	return v
}

// IsName reports whether a text is an input string and not the path of a file, such as noise/scan.npy.
func IsName(s string) bool {
	kind := name.KindOf(s)
	return slices.ContainsFunc(generators(), func(g generator) bool { return g.Name == kind })
}
