"""torch.export.exported_program: where programs look for ExportedProgram."""

from ._program import CustomDecompTable, ExportedProgram, default_decompositions  # noqa: F401
