"""Rows as a table of plain text."""


def table(rows, headers):
    """Columns two spaces apart, with a line of dashes under their heads."""
    widths = [max([len(head) + 2, *(len(row[k]) for row in rows)]) for k, head in enumerate(headers)]
    return "\n".join([_line(headers, widths), "  ".join("-" * width for width in widths), *(_line(row, widths) for row in rows)])


def _line(row, widths):
    return "  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip()
