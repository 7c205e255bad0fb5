package datasets

import (
	"slices"

	"eccbench/internal/name"
)

// A Name is a parsed input string, GENERATOR/key=value/key=value…; the order
// of the keys is free, except that path comes last and holds the rest of the
// string, slashes and all.
type Name struct {
	Generator string
	given     []name.Pair
}

// ParseName reads an input string. It is an error, of one line, when the
// generator or a key is unknown, a key is given twice, a required one is
// missing or a value is impossible. No file is looked at.
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

// String is the canonical spelling: the generator's own order of keys, every
// parameter that has a value spelled out, defaults too, and numbers in their
// shortest form. Names that say the same have equal strings. A Name that With
// made impossible is spelled as it was given.
func (n Name) String() string {
	pairs := n.given
	if r, err := resolve(n); err == nil {
		pairs = r.canonical
	}
	return name.Name{Kind: n.Generator, Pairs: pairs}.String()
}

// Get is the value of a parameter as String spells it, a default where none
// was given, and "" for a parameter without a value.
func (n Name) Get(key string) string {
	pairs := n.given
	if r, err := resolve(n); err == nil {
		pairs = r.canonical
	}
	return find(pairs, key)
}

// With is the name with one parameter set, or taken out when value is "". The
// defaults of the others follow: a noise without levels has 256 of them after
// With("type", "uint8"). Nothing is checked before the name is opened.
func (n Name) With(key, value string) Name {
	with := name.Name{Kind: n.Generator, Pairs: n.given}.With(key, value)
	return Name{with.Kind, with.Pairs}
}

// FromFiles reports whether the image is read from files that are not ours.
func (n Name) FromFiles() bool {
	return slices.ContainsFunc(generators(), func(g generator) bool { return g.Name == n.Generator && g.FromFiles })
}

// Canonical is the canonical spelling of an input string, see Name.String, or
// an error of one line.
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
