"""The check of the built book can fail: each fault, put into a page that has none, is found."""

import pytest
from check_book import Book, main

from ngeodesic import kernels

GOOD = """<html><head><link rel="stylesheet" href="style.css"></head><body><h1 id="top">Title</h1>
<p>Text of <a href="other.html#there">another page</a> and <a href="https://example.org/">outside</a>,
<span class="math">\\(\\frac{\\alpha}{\\theta}\\)</span>, <code>$PATH ??</code>.</p>
<img src="a.svg" alt="a chord">
</body></html>"""


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "style.css").write_text("body { background: url(a.svg) }")
    (tmp_path / "a.svg").write_text("<svg/>")
    (tmp_path / "other.html").write_text('<p id="there">There</p>')
    return tmp_path


def faults(tree, page):
    (tree / "page.html").write_text(page)
    book = Book(tree)
    book.check_pages()
    return book.faults


def test_a_good_page_has_no_fault(tree):
    assert faults(tree, GOOD) == []


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("other.html#there", "missing.html", "broken link"),
        ("other.html#there", "other.html#elsewhere", "no such anchor"),
        ('href="style.css"', 'href="https://cdn.example.org/style.css"', "asks for"),
        ('rel="stylesheet" href="style.css"', 'rel="preconnect" href="//fonts.example.org"', "asks for"),
        ('src="a.svg"', 'src="https://example.org/a.svg"', "asks for"),
        ('src="a.svg"', 'src="b.svg"', "b.svg is missing"),
        ("<body>", '<body><script src="https://cdn.example.org/x.js"></script>', "asks for"),
        ("<body>", "<body><script>import('https://cdn.example.org/x.js')</script>", "asks for"),
        ("<body>", '<body style="background: url(https://example.org/a.png)">', "asks for"),
        ("<body>", '<body><iframe src="https://example.org/"></iframe>', "asks for"),
        ("Text of", "Text $x$ of", "a raw dollar sign"),
        ("Text of", "Text of Theorem ??", "an unresolved reference"),
        ("Text of", "Text {prf:ref}`x` of", "an unrendered directive"),
        ("Text of", "\n(ng-bisector)=\nText of", "an unrendered directive"),
        ("Text of", "Text {{ x }} of", "an undefined substitution"),
        ("\\frac", "\\fraction", "undefined macros"),
        ('alt="a chord"', 'alt=""', "without alt text"),
    ],
)
def test_a_fault_is_found(tree, old, new, complaint):
    assert old in GOOD
    assert any(complaint in fault for fault in faults(tree, GOOD.replace(old, new)))


def test_an_outside_request_of_a_stylesheet_is_found(tree):
    (tree / "style.css").write_text('@import "https://fonts.example.org/a.css";')
    assert any("asks for" in fault for fault in faults(tree, GOOD))


def test_a_book_without_its_pages_is_at_fault(tree, capsys):
    (tree / "index.html").write_text(GOOD)
    (tree / "searchindex.js").write_text('Search.setIndex({"terms": {"gap": 0}, "titleterms": {}})')
    assert main([str(tree)]) == 1
    printed = capsys.readouterr().out
    assert "notebooks/bisector is in the table of contents and was not built" in printed
    assert "ng-bisector is no anchor of bisector" in printed
    assert "search cannot find bisector" in printed
    assert "ng_bisector of ng-bisector is not on the page of the Coq files" in printed


def test_a_book_whose_statements_dangle_is_at_fault(tree, monkeypatch):
    monkeypatch.setitem(kernels.NOT_CHECKED["Coq"], "ng-nothing", "because")
    book = Book(tree)
    book.kernels()
    assert any("names ng-nothing, which is no statement" in fault for fault in book.faults)
