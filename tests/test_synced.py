from pathlib import Path

import pytest

from infrastructure.storage import Storage
from infrastructure.synced import service_of


@pytest.mark.parametrize(
    ("folder", "service"),
    [
        ("/home/li/Dropbox/study", "Dropbox"),
        ("/home/li/Dropbox (Privat)/study", "Dropbox"),
        ("/Users/li/OneDrive - TU Wien/study", "OneDrive"),
        ("/Users/li/Library/CloudStorage/OneDrive-Personal/study", "OneDrive"),
        ("/Users/li/Library/CloudStorage/Box-Box/study", "CloudStorage"),
        ("/Users/li/Library/Mobile Documents/com~apple~CloudDocs/study", "iCloud"),
        ("/home/li/坚果云/学习", "Nutstore"),
        ("/home/li/Google Drive/study", "Google Drive"),
        ("/home/li/study", ""),
        ("/home/dropboxer/my onedrive notes", ""),
    ],
)
def test_a_synced_folder_is_known_by_its_path(folder, service):
    assert service_of(Path(folder)) == service


def test_a_home_in_a_synced_folder_is_warned_of_once(tmp_path):
    home = tmp_path / "Dropbox" / "home"
    told = []
    for _ in range(2):
        with Storage(home) as storage:
            told += storage.notices
    (sentence,) = told
    assert "Dropbox keeps in step" in sentence and "--home" in sentence


def test_an_ordinary_home_is_not_warned_of(tmp_path):
    with Storage(tmp_path / "home") as storage:
        assert storage.notices == []
