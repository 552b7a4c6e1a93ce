"""What script 13 is built from: reading files, the terminal, the command line. Nothing here imports a numbered script."""
