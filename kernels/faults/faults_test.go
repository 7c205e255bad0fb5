package faults

import (
	"os"
	"strings"
	"testing"

	"eccbench/kernels/source"
)

// Every fault is compiled from the current sources, and no two compile to the same code.
func TestFaultsAreOfTheSources(t *testing.T) {
	codes := map[string]string{}
	for _, m := range source.FaultyModules() {
		stamp, err := m.Stamp(os.DirFS(".."))
		if err != nil {
			t.Fatal(err)
		}
		ptx := modules()[m.Name()]
		if name, fault, ok := strings.Cut(m.Name(), "."); ok {
			if ptx, err = PTX(fault)(name); err != nil {
				t.Error(err)
			}
		}
		first, code, _ := strings.Cut(string(ptx), "\n")
		if first != stamp {
			t.Errorf("%s begins with %q, want %q: run make kernels", m.Name(), first, stamp)
		}
		for _, want := range []string{".version 7.8\n", ".target " + m.Target() + "\n"} {
			if !strings.Contains(code, want) {
				t.Errorf("%s: no %q", m.Name(), want)
			}
		}
		if other, ok := codes[code]; ok {
			t.Errorf("%s and %s are the same code", m.Name(), other)
		}
		codes[code] = m.Name()
	}
	if got, want := len(modules()), len(source.FaultyModules()); got != want {
		t.Errorf("%d modules, want %d: run make kernels", got, want)
	}
	if len(Misbehaving()) == 0 {
		t.Error("no kernels that misbehave")
	}
	if _, err := PTX("tie")("ecc_none"); err == nil {
		t.Error("kernels that do not exist were found")
	}
}
