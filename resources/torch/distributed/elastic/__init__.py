"""What launchers of ranks have; here the program itself runs as its ranks."""
