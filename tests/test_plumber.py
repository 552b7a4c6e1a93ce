"""What is particular to the third engine. The rest is in test_engines.py."""

import pytest
from data.make_pdfs import cyclic_pages, make_pdf

from study.plumber import PlumberFile


@pytest.fixture
def engine():
    return PlumberFile


def test_a_page_tree_that_contains_itself_is_followed_once(opened):
    assert opened(cyclic_pages(make_pdf(["x marks the spot"]))).read(0).text == "x marks the spot"
