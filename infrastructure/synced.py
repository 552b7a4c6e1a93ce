"""Is a folder kept in step with a cloud? Such a service copies a database while it is written, and brings back old halves."""

import re
from pathlib import Path

from infrastructure.language import tr

SERVICES = {  # the folder's name, which may go on: "OneDrive - TU Wien", "Dropbox (Privat)"
    "iCloud": "mobile documents|com~apple~clouddocs|icloud ?drive",
    "OneDrive": "onedrive",
    "Dropbox": "dropbox",
    "Google Drive": "google ?drive",
    "Nutstore": "nutstore|坚果云",
    "Baidu Netdisk": "baidusyncdisk|baidunetdisk|百度网盘|百度云同步盘",
    "CloudStorage": "cloudstorage",  # where macOS keeps the folders of all services
}


def service_of(folder: Path) -> str:
    """The name of the service that a folder lies in, as its path tells; "" for a folder of this machine alone.

    >>> service_of(Path("/home/li/OneDrive - TU Wien/notes")), service_of(Path("/home/li/dropbox_notes"))
    ('OneDrive', '')
    """
    for name, pattern in SERVICES.items():
        if any(re.fullmatch(rf"(?:{pattern})(?:[\s(~-].*)?", part, re.IGNORECASE) for part in folder.parts):
            return name
    return ""


def warning(folder: Path, service: str) -> str:
    return tr(
        f"{folder} lies in a folder that {service} keeps in step, which can spoil the database: choose another one with --home, "
        "and keep in there only what the command 'backup' makes.",
        f"{folder} 在 {service} 的同步文件夹里，可能损坏数据库：请用 --home 换到别处，那里只放 backup 命令生成的备份。",
    )
