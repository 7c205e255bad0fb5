package name

import (
	"fmt"
	"strings"
)

// List lists the first of many names.
func List(names []string) string {
	const most = 12
	var text []string
	for _, n := range names[:min(most, len(names))] {
		text = append(text, fmt.Sprintf("%.40q", n))
	}
	if len(names) > most {
		text = append(text, "…")
	}
	return strings.Join(text, ", ")
}
