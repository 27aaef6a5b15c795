"""Check the built book: `python tests/check_book.py _build/html`; exit 1 and say why if it is at fault."""

import json
import re
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import yaml

from ngeodesic import kernels, statements

ROOT = Path(__file__).parent.parent
WORDS_TO_FIND = ("bisector", "retraction")
OUTSIDE = re.compile(r"^(https?:)?//")
# attributes whose target the browser loads by itself, as opposed to <a href>
LOADED = {
    "script": ("src",), "img": ("src", "srcset"), "iframe": ("src",), "source": ("src", "srcset"),
    "video": ("src", "poster"), "audio": ("src",), "embed": ("src",), "object": ("data",),
    "image": ("href", "xlink:href"), "use": ("href", "xlink:href"),
}  # fmt: skip
LOADED_LINKS = {
    "stylesheet", "icon", "preload", "prefetch", "modulepreload", "preconnect", "dns-prefetch", "manifest",
    "apple-touch-icon", "mask-icon",
}  # fmt: skip
VERBATIM = {"script", "style", "code", "pre", "textarea"}
LEFTOVERS = {
    "a raw dollar sign": re.compile(r"\$"),
    "an unresolved reference": re.compile(r"\?\?"),
    "an unrendered directive or role": re.compile(
        r"\{[a-z]+(:[a-z]+)?\}`|`{3}|:{3,}\{|^\([a-z0-9-]+\)=$", re.MULTILINE
    ),
    "an undefined substitution": re.compile(r"\{\{|\}\}"),
}
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


@dataclass
class Page(HTMLParser):
    """What the checks need to know of one HTML file."""

    path: Path
    ids: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    images_without_alt: list[str] = field(default_factory=list)
    text: str = ""
    math: str = ""
    inline_code: str = ""
    code: str = ""
    headings: int = 0

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[tuple[str, bool]] = []
        self.feed(self.path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.ids.update(attributes[k] for k in ("id", "name") if attributes.get(k) and tag != "meta")
        self.headings += tag == "h1"
        if tag == "a" and "href" in attributes:
            self.links.append(attributes["href"])
        if tag == "link" and LOADED_LINKS & set(attributes.get("rel", "").split()):
            self.loaded.append(attributes["href"])
        self.loaded.extend(attributes[name] for name in LOADED.get(tag, ()) if name in attributes)
        self.inline_code += attributes.get("style", "") + "\n"
        if tag == "img" and not attributes.get("alt", "").strip():
            self.images_without_alt.append(attributes.get("src", "?")[:80])
        if tag not in VOID:
            self.open.append((tag, "math" in attributes.get("class", "").split()))

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        tags = [tag for tag, _ in self.open]
        if any(is_math for _, is_math in self.open):
            self.math += data + "\n"
        elif "script" in tags or "style" in tags:
            self.inline_code += data + "\n"
        elif not VERBATIM & set(tags):
            self.text += data
        else:
            self.code += data


def toc_files(entry: object) -> list[str]:
    """Every file of the table of contents, in order."""
    if isinstance(entry, list):
        return [file for item in entry for file in toc_files(item)]
    if not isinstance(entry, dict):
        return []
    own = [entry[key] for key in ("root", "file") if key in entry]
    return own + [file for value in entry.values() for file in toc_files(value)]


def resolve(page: Path, link: str) -> tuple[Path, str]:
    """The file and the anchor that an internal link points to."""
    parts = urlsplit(link)
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page.resolve()
    return (target / "index.html" if target.is_dir() else target), unquote(parts.fragment)


class Book:
    """The built book and the faults found in it."""

    def __init__(self, html: Path) -> None:
        self.html = html.resolve()
        self.passed = 0
        self.faults: list[str] = []
        self.pages = {p: Page(p) for p in sorted(self.html.rglob("*.html")) if "_static" not in p.parts}

    def check(self, ok: object, fault: str) -> None:
        if ok:
            self.passed += 1
        else:
            self.faults.append(fault)

    def name(self, path: Path) -> str:
        return str(path.relative_to(self.html))

    def run(self) -> None:
        self.contents()
        self.statements()
        self.kernels()
        self.search()
        self.check_pages()

    def check_pages(self) -> None:
        for page in self.pages.values():
            self.links(page)
            self.requests(page)
            self.rendering(page)
        for sheet in sorted(self.html.rglob("*.css")):
            urls = re.findall(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)", sheet.read_text("utf-8"))
            for url in filter(None, (u for pair in urls for u in pair)):
                self.check(not OUTSIDE.match(url), f"{self.name(sheet)}: asks for {url}")

    def contents(self) -> None:
        self.check((self.html / "index.html").is_file(), "index.html is missing")
        for file in toc_files(yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))):
            page = self.pages.get(self.html / f"{file}.html")
            self.check(page, f"{file} is in the table of contents and was not built")
            if page:
                self.check(page.headings, f"{file} has no title")
                self.check(len(page.text.split()) > 50, f"{file} is empty")

    def statements(self) -> None:
        for statement in statements.ALL.values():
            page = self.pages.get(self.html / "notebooks" / f"{statement.chapter}.html")
            self.check(
                page and statement.id in page.ids, f"{statement.id} is no anchor of {statement.chapter}"
            )

    def kernels(self) -> None:
        self.check(not (found := kernels.faults()), f"the kernels and the statements: {'; '.join(found)}")
        page = self.pages.get(self.html / "book" / "coq.html")
        for id, theorems in kernels.coq_theorems().items():
            for theorem in theorems:
                anchor = kernels.anchor(theorem.file)
                known = page and anchor in page.ids and theorem.name in page.code
                self.check(known, f"{theorem.name} of {id} is not on the page of the Coq files")

    def search(self) -> None:
        source = (self.html / "searchindex.js").read_text("utf-8")
        index = json.loads(source.removeprefix("Search.setIndex(").removesuffix(")"))
        known = {*index["terms"], *index["titleterms"]}
        for word in WORDS_TO_FIND:
            # the index holds stems: "retract" stands for "retraction"
            self.check(any(word[:n] in known for n in range(len(word), 4, -1)), f"search cannot find {word}")

    def links(self, page: Page) -> None:
        for link in page.links:
            if urlsplit(link).scheme or OUTSIDE.match(link):
                continue
            target, anchor = resolve(page.path, link)
            self.check(target.is_file(), f"{self.name(page.path)}: broken link {link}")
            if anchor and target in self.pages:
                self.check(anchor in self.pages[target].ids, f"{self.name(page.path)}: no such anchor {link}")

    def requests(self, page: Page) -> None:
        for url in page.loaded:
            self.check(not OUTSIDE.match(url.strip()), f"{self.name(page.path)}: asks for {url}")
            if not urlsplit(url).scheme and not OUTSIDE.match(url):
                self.check(resolve(page.path, url)[0].is_file(), f"{self.name(page.path)}: {url} is missing")
        found = re.findall(
            r"(?:url\(|import\(?|fetch\(|src\s*=)\s*['\"]?(https?:[^'\")\s]+)", page.inline_code
        )
        self.check(not found, f"{self.name(page.path)}: asks for {found}")

    def rendering(self, page: Page) -> None:
        name = self.name(page.path)
        for what, pattern in LEFTOVERS.items():
            match = pattern.search(page.text)
            context = page.text[max(match.start() - 30, 0) : match.end() + 30] if match else ""
            self.check(not match, f"{name}: {what} in {context!r}")
        unknown = sorted(set(re.findall(r"\\([A-Za-z]+)", page.math)) - self.macros())
        self.check(not unknown, f"{name}: undefined macros {unknown}")
        self.check(not page.images_without_alt, f"{name}: images without alt text {page.images_without_alt}")
        self.check(str(ROOT) not in page.text, f"{name}: a path of the machine that built the book")

    def macros(self) -> set[str]:
        """Names that MathJax defines: those of the macros in _config.yml and every key in its own tables."""
        if not hasattr(self, "known_macros"):
            config = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))["sphinx"]["config"]
            program = (ROOT / "book/_static" / config["mathjax_path"]).read_text("utf-8")
            keys = re.findall(r"[{,]\"?\\{0,2}([A-Za-z]+)\"?:", program)
            self.known_macros = {*keys, *config["mathjax3_config"]["tex"]["macros"]}
        return self.known_macros


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        print("usage: python tests/check_book.py HTML_FOLDER", file=sys.stderr)
        return 2
    book = Book(Path(arguments[0]))
    book.run()
    for fault in book.faults:
        print(f"FAILED {fault}")
    print(f"book: {len(book.pages)} pages; {book.passed} passed, {len(book.faults)} failed")
    return 1 if book.faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
