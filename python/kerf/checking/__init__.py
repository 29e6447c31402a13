"""Finds out whether what torch.compile makes of a program differs from the program, where, and in how few calls."""
