package datasets

import (
	"fmt"
	"strings"
)

// listOf lists the first of many names.
func listOf(names []string) string {
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
