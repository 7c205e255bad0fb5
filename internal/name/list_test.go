package name

import (
	"strings"
	"testing"
)

// A long list of names is cut.
func TestList(t *testing.T) {
	names := strings.Fields("a b c d e f g h i j k l m")
	if got, want := List(names[:2]), `"a", "b"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if of12, of13 := List(names[:12]), List(names); of13 != of12+", …" || !strings.HasSuffix(of12, `, "l"`) {
		t.Errorf("%s, and of one more %s", of12, of13)
	}
}
