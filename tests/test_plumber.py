import pytest
from data.make_pdfs import cyclic_pages, make_pdf

from infrastructure.errors import PasswordNeeded
from study.engine import EngineError
from study.plumber import PlumberFile


@pytest.fixture
def opened(tmp_path):
    def open_pdf(data, password=None):
        path = tmp_path / "book.pdf"
        path.write_bytes(data)
        return PlumberFile(path, password)

    return open_pdf


def test_a_page_is_read(opened):
    file = opened(make_pdf(["first page", "second page"], title="Guide"))
    assert (file.page_count, file.title, file.read(1).text) == (2, "Guide", "second page")
    file.close()


def test_a_page_tree_that_contains_itself_is_followed_once(opened):
    assert opened(cyclic_pages(make_pdf(["x marks the spot"]))).read(0).text == "x marks the spot"


def test_a_locked_file_needs_its_password(opened):
    data = make_pdf(["first page"], password="secret")
    with pytest.raises(PasswordNeeded):
        opened(data, "wrong")
    assert opened(data, "secret").read(0).text == "first page"


@pytest.mark.parametrize("data", [b"", b"%PDF-1.7\n"])
def test_damage_is_an_engine_error(opened, data):
    with pytest.raises(EngineError):
        opened(data)
