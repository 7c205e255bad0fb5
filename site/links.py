"""Finds broken links of the built site: every local href and src leads to a file, and its fragment to an id.

    python links.py FOLDER
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links and the ids of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.ids = set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("id", "name"):
                self.ids.add(value)
            elif name in ("href", "src") and value:
                self.links.add(value)


root = Path(sys.argv[1]).resolve()
pages = {path: Page(path.read_text("utf-8")) for path in root.rglob("*.html")}
broken = checked = 0
for path, page in pages.items():
    for link in sorted(page.links):
        scheme, host, target, _, fragment = urlsplit(link)
        if scheme or host:
            continue
        checked += 1
        to = (path.parent / unquote(target)).resolve() if target else path
        to = to / "index.html" if to.is_dir() else to
        if not to.exists() or fragment and to in pages and unquote(fragment) not in pages[to].ids:
            broken += 1
            print(f"{path.relative_to(root)}: {link} is broken")
print(f"{len(pages)} pages, {checked} links, {broken} broken")
sys.exit(broken > 0)
