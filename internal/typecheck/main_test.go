package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Names missing on another system are reported, in packages and in their tests. Files of other
// systems are not read.
func TestCheck(t *testing.T) {
	for name, c := range map[string]struct{ file, source, want string }{
		"nothing is wrong":              {"a.go", "package a\n\nimport \"os\"\n\nvar _ = os.Getpid()\n", ""},
		"another system's file":         {"a_windows.go", "package a\n\nvar _ int = \"\"\n", ""},
		"a constant of Linux":           {"a.go", "package a\n\nimport \"syscall\"\n\nfunc f() int { return syscall.MADV_HUGEPAGE }\n", "undefined: syscall.MADV_HUGEPAGE"},
		"a constant of Linux, on it":    {"a_linux.go", "package a\n\nimport \"syscall\"\n\nfunc f() int { return syscall.MADV_HUGEPAGE }\n", ""},
		"its own file":                  {"a_darwin.go", "package a\n\nvar _ int = \"\"\n", "a_darwin.go:3:"},
		"a test":                        {"a_test.go", "package a\n\nimport \"syscall\"\n\nvar _ = syscall.MADV_HUGEPAGE\n", "a_test.go:5:"},
		"a test from without":           {"a_test.go", "package a_test\n\nimport \"m\"\n\nvar _ = a.Missing\n", "undefined: a.Missing"},
		"no package":                    {"a.go", "package a\n\nimport _ \"m/missing\"\n", "m/missing"},
		"text that is no Go":            {"a.go", "package a\n\nfunc {\n", "a.go:3:"},
		"what only its test's file has": {"a_test.go", "package a\n\nfunc g() int { return undefinedHere }\n", "undefined: undefinedHere"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range map[string]string{"go.mod": "module m\n\ngo 1.26\n", "doc.go": "package a\n", c.file: c.source} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			refused, err := check("darwin", dir)
			if err != nil {
				t.Fatal(err)
			}
			var all []string
			for _, r := range refused {
				all = append(all, r.Error())
			}
			if text := strings.Join(all, "\n"); c.want == "" && text != "" || !strings.Contains(text, c.want) {
				t.Errorf("refused: %q, want %q", text, c.want)
			}
		})
	}
	if refused, err := check("darwin", t.TempDir()); err == nil && len(refused) == 0 {
		t.Error("a folder without packages is right")
	}
}
