"""Certificates and reports as HTML: right numbers, escaped, self-contained."""

import math
from html.parser import HTMLParser

import pytest
from sklearn.datasets import make_classification

from dualgap import Certificate, LinearClassifier, Report, _html


class Page(HTMLParser):
    """Checks that tags are balanced, and collects text, tags and attributes."""

    def __init__(self, html):
        super().__init__()
        self.open, self.texts, self.tags = [], [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.tags.append((tag, dict(attributes)))

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        self.texts.append(text)

    @property
    def text(self):
        return "".join(self.texts)


@pytest.fixture(scope="module")
def fitted():
    X, y = make_classification(100, 5, flip_y=0.3, random_state=0)
    return LinearClassifier(tolerance=1e-3).fit(X, y)


def test_a_certificate_says_what_is_proven():
    page = Page(Certificate(0.5, 0.4975, 0.0)._repr_html_())
    assert "at most 0.0025 (0.5 %) above the optimum" in page.text
    for number in ("0.5", "0.4975", "0.0025"):
        assert number in page.texts


def test_a_report_has_the_certificate_and_the_reason(fitted):
    page = Page(fitted.report_._repr_html_())
    assert "LinearClassifier" in page.texts and "gap_reached" in page.texts
    assert "the tolerance was reached (tolerance 0.001)" in page.texts
    assert f"{fitted.certificate_.primal:.10g}" in page.texts
    assert str(fitted.certificate_) in str(fitted.report_)


def test_pages_load_nothing_and_run_nothing(fitted):
    pages = (fitted.report_._repr_html_(), fitted.certificate_._repr_html_(), _html.progress("a", 0.5, "b"))
    for html in pages:
        for tag, attributes in Page(html).tags:
            assert tag not in ("script", "link", "img", "iframe", "style")
            assert not any(name.startswith("on") or name in ("src", "href") for name in attributes)
            assert "url(" not in attributes.get("style", "")


def test_text_is_escaped():
    bad = "<script>alert('x')</script>"
    report = Report(bad, Certificate(1.0, 0.9, 0.0, basis=bad, evidence=bad), bad, 1.0, 1.0, 1, None)
    for html in (report._repr_html_(), _html.progress(bad, 0.0, bad)):
        assert "<script" not in html
        assert bad in Page(html).text


def test_the_scale_is_filled_by_digits():
    def filled(gap, tolerance=1e-4):
        shapes = [attributes for tag, attributes in Page(_html.gap_scale(gap, tolerance)).tags if tag == "rect"]
        frame, bar = shapes
        return float(bar["width"]) / float(frame["width"])

    assert [filled(10.0**-digits) for digits in range(5)] == pytest.approx([0.0, 0.25, 0.5, 0.75, 1.0], abs=1e-3)
    assert filled(0.0) == filled(1e-300, None) == 1.0
    assert filled(5.0) == filled(math.inf) == 0.0


def test_what_is_not_certified_has_no_scale():
    html = Certificate(1.0, 0.5, 0.0, certified=False)._repr_html_()
    assert "Not certified" in Page(html).text and "<svg" not in html


def test_promises_are_told():
    page = Page(Certificate(1.0, 0.9, 0.0, basis={"additive": 0.1}, evidence="word")._repr_html_())
    assert "what the primal value rests on" in page.texts and "word" in page.texts


def test_scikit_learns_diagram_is_as_it_was(fitted):
    assert "sk-" in fitted._repr_html_() and "LinearClassifier" in fitted._repr_html_()
