package peers

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// Descriptions are read strictly: an unknown field or an invalid value is an error.
func TestAbout(t *testing.T) {
	const head = `{"protocol": "eccbench-peer/1", "name": "a.b+c-1", "version": "2", "method": "m", "where": "cpu"`
	for text, want := range map[string]string{
		head + `, "answers": [{"workload": "ecc"}]}`:                                           "",
		head + `, "answers": [{"workload": "ecc", "construction": "V", "sets": "super"}]}`:     "",
		strings.Replace(head, "/1", "/2", 1) + `, "answers": [{"workload": "ecc"}]}`:           "protocol is",
		strings.Replace(head, "a.b", "A b", 1) + `, "answers": [{"workload": "ecc"}]}`:         "name is",
		strings.Replace(head, "cpu", "cloud", 1) + `, "answers": [{"workload": "ecc"}]}`:       "where is",
		strings.Replace(head, `"m"`, `"\u001b[2J"`, 1) + `, "answers": [{"workload": "ecc"}]}`: "printable",
		strings.Replace(head, `"2"`, `""`, 1) + `, "answers": [{"workload": "ecc"}]}`:          "version or method is missing",
		head + `, "answers": []}`: "answers is empty",
		head + `}`:                "answers is empty",
		head + `, "answers": [{"workload": "ecc", "speed": 3}]}`:                                              "unknown field",
		head + `, "answers": [{"workload": "ecc"}]} {}`:                                                       "more than one",
		head + `, "answers": [{"workload": "ecc"}, {"workload": "ecc", "construction": "T", "sets": "sub"}]}`: "two answers to ecc",
		head + `, "answers": [{"workload": "ecc", "construction": "W"}]}`:                                     "construction is",
		head + `, "answers": [{"workload": "ecc", "sets": "both"}]}`:                                          "sets is",
		head + `, "answers": [{"workload": "ecc", "dims": [4]}]}`:                                             "dims are",
		head + `, "answers": [{"workload": "ecc", "dtypes": ["int99"]}]}`:                                     "int99",
		head + `, "answers": [{"workload": "ecc", "max_levels": -1}]}`:                                        "negative",
		head + `, "answers": [{"workload": "Euler char"}]}`:                                                   "workload is",
		head + `, "answers": [{"workload": "ecc", "max_voxels": "9"}]}`:                                       "answers.max_voxels is a JSON string, want int64",
		`done`:            `about: "done" is no JSON object`,
		``:                `about: "" is no JSON object`,
		`[]`:              "about: the description is a JSON array, want object",
		`{"answers": {}}`: "about: answers is a JSON object, want array",
		head:              "is no JSON object",
	} {
		if _, err := parseAbout(text); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	a, err := parseAbout(head + `, "answers": [{"workload": "ecc", "construction": "V", "sets": "super"}]}`)
	if p := (&Peer{About: a}); err != nil || p.Claims("ecc-v-super") == nil || p.Claims("ecc") != nil {
		t.Errorf("%+v: %v", a, err)
	}
}

// A peer must be an executable file, named by a path with a slash.
func TestPaths(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/false\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil { // for every umask
			t.Fatal(err)
		}
		return path
	}
	good, plain := write("good", 0o755), write("plain.py", 0o644)
	if p, err := New("", good); err != nil || p.Path != good || len(p.SHA256) != 64 {
		t.Errorf("%+v: %v", p, err)
	}
	for path, want := range map[string]string{"good": "want a path with a slash", plain: "not a program", dir: "not a program", dir + "/absent": "no such file"} {
		if _, err := New("", path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	if _, err := New("no name", good); err == nil {
		t.Error("a name with a blank is taken")
	}
	if list, err := In(dir); err != nil || len(list) != 1 || list[0].Path != good {
		t.Errorf("%v: %v", list, err)
	}
	for _, c := range []struct{ path, want string }{{good, "anybody may write to it"}, {dir, "anybody may write to it"}} {
		if err := os.Chmod(c.path, 0o757); err != nil {
			t.Fatal(err)
		}
		if _, err := In(dir); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.path, err)
		}
		if err := os.Chmod(c.path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(good); err != nil {
		t.Fatal(err)
	}
	if _, err := In(dir); err == nil || !strings.Contains(err.Error(), "no executable file") {
		t.Error(err)
	}
	if _, err := In(plain); err == nil {
		t.Error("a file is a folder")
	}
}

// A path may have arguments. A file whose name has a blank has none.
func TestArguments(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a folder")
	path := filepath.Join(dir, "peer")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{path, filepath.Join(filepath.Dir(dir), "a")} {
		if err := os.WriteFile(program, []byte("#!/bin/false\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for text, args := range map[string]int{path: 0, filepath.Dir(dir) + "/a serve cpu": 2} {
		p, err := New("", text)
		if err != nil || p.Line() != text || p.Stamp().Path != text || len(p.Args) != args {
			t.Errorf("%s: %+v, %v", text, p, err)
		}
	}
}

// A program that does not start, or sends no description, is Broken and has a name of its own.
func TestBroken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "No_Peer.sh")
	if err := os.WriteFile(path, []byte("neither script nor program\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	p, err := New("", path)
	if err != nil {
		t.Fatal(err)
	}
	p.Describe()
	if p.Broken == "" || p.Name != "no-peer.sh" || p.Where != "cpu" {
		t.Errorf("%q called %q", p.Broken, p.Name)
	}
	if _, err := p.Acquire(1); err == nil {
		t.Error("it was started")
	}
	p.Broken = ""
	if err := os.WriteFile(path, []byte("another\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Acquire(1); err == nil || !strings.Contains(err.Error(), "was replaced") {
		t.Error(err)
	}
}

func TestTexts(t *testing.T) {
	if got := shown("a\x1b[31m\xff\n" + strings.Repeat("é", 300)); !strings.HasPrefix(got, "a?[31m??é") || len([]rune(got)) != longest+1 {
		t.Errorf("%q", got)
	}
	var x tail
	for i := range 3000 {
		fmt.Fprintf(&x, "line %d\n", i)
	}
	x.Write([]byte(strings.Repeat("x", 2*tailBytes) + "\nthe last\n \n"))
	if got := x.lastLine(); got != "the last" || len(x.text) != tailBytes {
		t.Errorf("%q of %d bytes", got, len(x.text))
	}
	if got := (&Error{Kind: Failed, Verb: "do", Why: "why", Own: true}).Error(); got != "its process failed at do: why" {
		t.Errorf("%q", got)
	}
	for kind, want := range map[Kind]string{Refused: "the peer refuses: why", Failed: "the peer failed at do: why", Malformed: "malformed: why", Broken: "the peer broke at do: why"} {
		if got := (&Error{Kind: kind, Verb: "do", Why: "why"}).Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Adapters stay short enough to be read in a minute, each with its versions pinned.
func TestAdapters(t *testing.T) {
	adapters, err := filepath.Glob("../../peers/adapters/peer_*.py")
	if err != nil || len(adapters) < 18 {
		t.Fatalf("%d adapters, want 18 or more, %v", len(adapters), err)
	}
	pinned := regexp.MustCompile(`^"""requires:( [\w-]+==[\w.]+)+("""|\nneeds: )`)
	for _, path := range adapters {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := 0
		for line := range strings.Lines(string(text)) {
			if strings.TrimSpace(line) != "" {
				lines++
			}
			if utf8.RuneCountInString(line) > 121 {
				t.Errorf("%s: a line of more than 120 characters: %s", path, line)
			}
		}
		if lines > 40 || !pinned.Match(text) {
			t.Errorf("%s: %d lines, want 40 at most; pinned: %t", path, lines, pinned.Match(text))
		}
	}
}
