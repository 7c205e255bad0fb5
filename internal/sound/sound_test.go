package sound

import (
	"os"
	"strings"
	"testing"
)

// What a check says first is told, whoever says it, and a check that panics has said so; folders
// are gone then.
func TestFirst(t *testing.T) {
	var dir string
	right := Check{Name: "right", Of: func(t T) {
		dir = t.TempDir()
		if _, err := os.Stat(dir); err != nil {
			t.Error(err)
		}
		t.Helper()
	}}
	for _, c := range []struct {
		of   func(T)
		want string
	}{
		{func(t T) { t.Errorf("%d is odd", 7); t.Error("more") }, "7 is odd"},
		{func(t T) { t.Fatal("gone"); t.Error("more") }, "gone"},
		{func(t T) { t.Fatalf("%d gone", 2); panic("not come to") }, "2 gone"},
		{func(t T) { panic("at the disco") }, "it panics: at the disco"},
		{func(t T) { var list []int; list[0]++ }, "index out of range"},
	} {
		err := First(right, Check{Name: "wrong", Of: c.of}, Check{Name: "later", Of: func(t T) { t.Error("later") }})
		if err == nil || !strings.Contains(err.Error(), "wrong: ") || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "more") {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	if err := First(right, right); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", dir, err)
	}
}
