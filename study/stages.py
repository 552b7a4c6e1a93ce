"""What a progress bar counts while a file is read. A file of its own, because the screen must not load the readers for it."""

READING, RECOGNISING = "reading", "recognising"
