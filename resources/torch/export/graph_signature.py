"""torch.export.graph_signature: what the inputs and outputs of an exported graph are."""

from ._program import ExportGraphSignature, InputKind, InputSpec, OutputKind, OutputSpec  # noqa: F401
