package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	fence   = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	address = regexp.MustCompile(`^[a-z]+:`)
)

// TestLinks follows each relative link of the documents to a file and a heading. Each picture must
// have a script that draws it and a document that shows it.
func TestLinks(t *testing.T) {
	checked, linked := 0, map[string]bool{}
	for _, doc := range documents(t) {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(string(text), ""), -1) {
			if address.MatchString(m[1]) {
				continue
			}
			path, anchor, _ := strings.Cut(m[1], "#")
			target := doc
			if path != "" {
				target = filepath.Join(filepath.Dir(doc), path)
			}
			linked[target] = true
			if why := broken(target, anchor); why != "" {
				t.Errorf("%s: link %s: %s", doc, m[1], why)
			}
			checked++
		}
	}
	if checked < 200 {
		t.Errorf("%d links were checked", checked)
	}
	script, err := os.ReadFile("../../scripts/pictures.py")
	if err != nil {
		t.Fatal(err)
	}
	pictures, err := filepath.Glob("../../doc/pictures/*")
	if err != nil || len(pictures) < 8 {
		t.Errorf("%d pictures, %v", len(pictures), err)
	}
	for _, p := range pictures {
		if !strings.Contains(string(script), `"`+filepath.Base(p)+`"`) || !linked[p] {
			t.Errorf("%s: not drawn by scripts/pictures.py, or shown by no document", p)
		}
	}
	for _, bad := range [][2]string{{"nowhere.md", ""}, {"../../README.md", "no-such-heading"}} {
		if broken(bad[0], bad[1]) == "" {
			t.Errorf("%s#%s is not broken", bad[0], bad[1])
		}
	}
}

// documents returns the paths of all committed Markdown files.
func documents(t *testing.T) []string {
	out, err := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard",
		"../../*.md", ":(exclude,glob)../../**/testdata/**").Output()
	if err != nil {
		t.Skip("no git checkout:", err)
	}
	return strings.Fields(string(out))
}

// broken returns why a link has no target, or "".
func broken(target, anchor string) string {
	text, err := os.ReadFile(target)
	info, statErr := os.Stat(target)
	switch {
	case statErr != nil:
		return "no such file"
	case anchor == "" || info.IsDir():
		return ""
	case err != nil:
		return err.Error()
	}
	for _, h := range heading.FindAllStringSubmatch(fence.ReplaceAllString(string(text), ""), -1) {
		if anchorOf(h[1]) == anchor {
			return ""
		}
	}
	return "no such heading"
}

// anchorOf returns the anchor that GitHub gives a heading.
func anchorOf(heading string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(heading) {
		switch {
		case r == ' ':
			b.WriteRune('-')
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r):
			b.WriteRune(r)
		}
	}
	return b.String()
}
