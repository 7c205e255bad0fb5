"""Sphinx builds the site from a copy of the tree, which make site makes in bin/site/source."""

import re
from importlib.metadata import version as installed
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

project = "eccbench"
author = copyright = "the eccbench maintainers"
release = installed("eccbench")
root_doc = "README"
include_patterns = [
    "README.md", "CHANGELOG.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "doc/**.md", "reports/*.md",
    "python/README.md", "web/README.md", "site/api.rst", "gallery/**",
]
exclude_patterns = ["doc/examples", "reports/plots", "gallery/*.ipynb", "gallery/*.py", "gallery/*.md5"]
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_gallery.gen_gallery"]

html_theme = "furo"
html_title = "eccbench"
html_logo = html_favicon = "../web/page/icon.svg"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_extra_path = ["../../extra"]  # the page of web/, which is the front page
html_show_sourcelink = False
templates_path = ["templates"]
html_sidebars = {"**": [
    "sidebar/brand.html", "sidebar/search.html", "compute.html", "sidebar/scroll-start.html", "sidebar/navigation.html",
    "sidebar/scroll-end.html",
]}

myst_heading_anchors = 4
suppress_warnings = ["myst.header", "config.cache"]  # a page may begin its sections at any depth

autodoc_mock_imports = ["torch", "torchmetrics"]
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
default_role = "code"
highlight_language = "none"

FIRST = [
    "first_curve", "plateau", "betti_levels", "peaks", "brain", "bone", "rock", "sky", "lost_vessel", "connectivity",
    "noise",
]
sphinx_gallery_conf = {
    "examples_dirs": "python/examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": lambda name: ((FIRST + [name[:-3]]).index(name[:-3]), name),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 1e6,
    "image_scrapers": ("matplotlib",),
}

START = """

<a href="index.html">Compute here, in the browser</a> · <a href="gallery/index.html">Gallery</a>

"""


def edit(app, page, source):
    """The front page has the contents of the site, and links to folders lead to their index."""
    folder = Path(app.srcdir, page).parent

    def index(link):
        text, path = link.groups()
        if path == "examples/gallery/":
            return f"[{text}](/gallery/index.rst)"
        return f"[{text}]({path}README.md)" if (folder / path / "README.md").exists() else text

    source[0] = re.sub(r"\[([^]]*)\]\((?!https?:)([^)#]+/)\)", index, source[0])
    if page == root_doc:
        source[0] = source[0].replace("\n\n", START, 1)
        source[0] += (Path(app.confdir) / "contents.md").read_text("utf-8")


def escape(app, what, name, obj, options, lines):
    """Docstrings are plain text where they have stars and bars, and each numbers its references from 1 on."""
    unique = "[#" + name.replace(".", "-") + r"-\1]"
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...", "**")):
            line = re.sub(r"``.*?``|(?<!\*)([*|])(?=\w)", lambda m: "\\" + m[1] if m[1] else m[0], line)
        lines[i] = re.sub(r"\[(\d)\](?=_)|(?<=^\.\. )\[(\d)\]", lambda m: unique.replace(r"\1", m[1] or m[2]), line)


def setup(app):
    app.connect("source-read", edit)
    app.connect("autodoc-process-docstring", escape, priority=400)  # before napoleon
