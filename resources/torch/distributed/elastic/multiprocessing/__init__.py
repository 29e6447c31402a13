"""Errors of ranks."""
