package report

import (
	"io"
	"strings"
)

// HTMLTable formats a table as HTML. The first column names the row.
func HTMLTable(label string, header []string, cells [][]string) string {
	rows := each(cells, func(row []string) markup {
		return marked(`<tr><th scope="row">%s</th>%s</tr>`+"\n", row[0],
			each(row[1:], func(cell string) markup { return marked(`<td class="number">%s</td>`, cell) }))
	})
	return string(scrolled(label, "", heads(header...)+marked("<tbody>\n%s</tbody>", rows)))
}

// HTMLDocument writes a self-contained page: a title, lines of text, and a body of HTML.
func HTMLDocument(w io.Writer, title, text, body string) error {
	head, _ := pageHead(title)
	lines := each(strings.Split(strings.TrimSpace(text), "\n"),
		func(line string) markup { return marked("<p>%s</p>\n", line) })
	page := head + marked("<h1>%s</h1>\n", title) + lines + markup(body) + "</body>\n</html>\n"
	_, err := io.WriteString(w, VisibleText(string(page)))
	return err
}
