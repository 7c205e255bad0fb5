package report

import (
	"fmt"
	"html"
	"strings"

	"eccbench/internal/verify"
)

// markup is a part of a page, in HTML. The functions that make markup from text escape the text.
//
// Package html/template would be shorter to use. But it calls methods by name, which forces the
// linker to keep every exported method of every type: a quarter of the program.
type markup string

// marked formats its arguments and escapes them, except arguments of type markup.
func marked(format string, args ...any) markup {
	for i, a := range args {
		if _, is := a.(markup); !is {
			args[i] = html.EscapeString(fmt.Sprint(a))
		}
	}
	return markup(fmt.Sprintf(format, args...))
}

// each concatenates the markup of the elements of a list.
func each[T any](list []T, one func(T) markup) markup {
	var b strings.Builder
	for _, v := range list {
		b.WriteString(string(one(v)))
	}
	return markup(b.String())
}

// markupAround inserts the markup of a list into a format. It returns "" for an empty list.
func markupAround[T any](format string, list []T, one func(T) markup) markup {
	if len(list) == 0 {
		return ""
	}
	return marked(format, each(list, one))
}

// formatNonEmpty inserts a text into a format. It returns "" for an empty text.
func formatNonEmpty(format, text string) markup {
	if text == "" {
		return ""
	}
	return marked(format, text)
}

func item(text string) markup { return marked("<li>%s</li>", text) }

func bulleted(list []string) markup { return markupAround("<ul>%s</ul>", list, item) }

func heads(list ...string) markup {
	return marked("<thead><tr>%s</tr></thead>\n", each(list,
		func(h string) markup { return marked(`<th scope="col">%s</th>`, h) }))
}

// scrolled returns a table that scrolls on narrow pages. Screen readers read its label.
func scrolled(label, class string, table markup) markup {
	return marked(`<div class="scroll" tabindex="0" role="region" aria-label="%s"><table class="%s">%s</table></div>`,
		label, class, table) + "\n"
}

// pageHead returns the page up to the start of its body, and the rest of the frame.
func pageHead(title string) (head markup, rest string) {
	before, after, _ := strings.Cut(pageFrame, "</title>")
	style, rest, _ := strings.Cut(after, "<body>\n")
	return marked("%s%s</title>%s<body>\n", markup(before), title, markup(style)), rest
}

// markup returns the whole page.
func (v *pageView) markup() markup {
	head, rest := pageHead(v.Title)
	frame, end, _ := strings.Cut(rest, "<!-- body -->\n")
	return head + markup(frame) + v.header() + `<main id="tables">` + "\n" + v.body() + "</main>\n" + markup(end)
}

func (v *pageView) header() markup {
	said := markup("")
	if g := v.Gate; g != nil {
		said = marked("<p><strong>Gate: %s</strong>: %s.</p>", g.Verdict, g.Reason) +
			each(g.About, func(s string) markup { return marked("<p>%s</p>", s) }) + formatNonEmpty("<p>%s</p>", g.Noise)
	}
	said += formatNonEmpty("<p><strong>%s</strong>. Only VERIFIED numbers are plain: their answers were checked, and the "+
		"answers that were checked are the ones that were timed.</p>", strings.Join(v.Statuses, ", ")) +
		formatNonEmpty("<p>Noise floor: %s</p>", v.Noise)
	return marked("<h1>%s</h1>\n"+`<div class="verdict" role="status">%s</div>`+"\n</header>\n", v.Title, said)
}

func (v *pageView) body() markup {
	return markupAround(`<fieldset id="filter" hidden><legend>Implementations</legend>%s</fieldset>`+"\n", v.Impls,
		func(name string) markup {
			return marked(`<label><input type="checkbox" value="%s" checked> %s</label>`, name, name)
		}) +
		`<p id="said" aria-live="polite"></p>` + "\n" +
		markupAround(`<section aria-labelledby="machine"><h2 id="machine">Machine</h2><div class="scroll" tabindex="0" role="region" aria-label="machine">%s</div></section>`+"\n", v.Machines, func(m markup) markup { return m }) +
		each(v.Forests, forest.markup) +
		markupAround(`<section aria-labelledby="throughput"><h2 id="throughput">Throughput</h2>`+"\n%s</section>\n", v.Tables,
			pageTable.markup) +
		each(v.Quotes, Quote.markup) +
		markupAround("<section><h2>Without a plain number</h2><ul>%s</ul></section>\n", v.Unmeasured, func(r Row) markup {
			return marked(`<li data-impl="%s"><strong>%s %s</strong>, %s: %s%s%s</li>`, r.Impl, r.Impl, r.Size, r.Scope,
				r.Status, formatNonEmpty(": %s", r.Reason), formatNonEmpty("<br>reproduce: <code>%s</code>", r.Reproduce))
		}) +
		markupAround("<section><h2>Raw numbers</h2><ul>%s</ul></section>\n", v.Downloads, func(d download) markup {
			return marked(`<li><a download="%s" href="%s">%s</a> (%s)</li>`, d.Name, d.Href, d.Name, d.Size)
		})
}

func (f forest) markup() markup {
	rows := each(f.Rows, func(r forestRow) markup {
		return marked(`<tr data-impl="%s"><th scope="row">%s</th><td>%s</td><td class="number" data-value="%v">%s</td><td data-value="%v">%s</td><td>%s</td><td>%s</td></tr>`,
			r.Name, r.Name, r.Decision, r.Sorted(), r.Text, r.Sorted(), r.Drawing, r.Input, r.Scope)
	})
	table := heads("implementation", "verdict or note", f.Header, "← "+f.Low+" | "+f.High+" →", "input",
		"scope") + marked("<tbody>%s</tbody>", rows)
	return marked("<section><h2>%s</h2>\n%s%s</section>\n", f.Title, scrolled(f.Title, "sortable ratios", table),
		bulleted(f.Notes))
}

func (t pageTable) markup() markup {
	if len(t.Rows) == 0 {
		return ""
	}
	rows := each(t.Rows, func(r pageRow) markup {
		class := markup("")
		if r.Status != verify.Verified {
			class = ` class="bad"`
		}
		return marked(`<tr data-impl="%s"%s><th scope="row">%s</th><td data-value="%v">%s</td><td>%s</td><td class="number" data-value="%v">%s</td><td class="number" data-value="%v">%s</td><td class="number" data-value="%v">%s</td><td>%s</td></tr>`,
			r.Impl, class, r.Impl, r.Items, r.Size, r.Status, r.SortRate, r.Shown, r.SortCeiling, r.OfCeiling, r.SortSpeedup,
			r.Over, r.Joined)
	})
	table := marked("<caption>%s</caption>\n", t.Title) + heads("implementation", "size", "status", t.Unit, "% of ceiling",
		"× best CPU", "flags") + marked("<tbody>%s</tbody>", rows)
	figure := markup("")
	if t.Figure != "" {
		figure = marked(`<figure class="plot">%s<figcaption>%s: rate against size, both logarithmic; bars are intervals, dashed lines the ceiling, hollow points numbers that are not VERIFIED.</figcaption></figure>`+"\n", t.Figure, t.Title)
	}
	return scrolled(t.Title, "sortable", table) + figure
}

func (q Quote) markup() markup {
	return marked("<section><h2>%s</h2>\n<ul>%s</ul>\n%s</section>\n", q.Title, each(q.About, item),
		each(q.Sections, func(s QuoteSection) markup {
			rows := each(s.Rows, func(r QuoteRow) markup {
				return marked(`<tr data-impl="%s">%s</tr>`, r.Impl, each(r.Cells, func(c QuoteCell) markup {
					if c.Value == nil {
						return marked("<td>%s</td>", r.Shown(c))
					}
					class := "number"
					if r.Explains(c) {
						class = "why"
					}
					return marked(`<td class="%s" data-value="%v">%s</td>`, class, *c.Value, r.Shown(c))
				}))
			})
			table := marked("<caption>%s</caption>\n", s.Title) + heads(s.Header...) + marked("<tbody>%s</tbody>", rows)
			return scrolled(q.Title+", "+s.Title, "sortable quote", table) + bulleted(s.Notes)
		}))
}
