// CodeKind: whether Python with a forward method is what a tracer printed, or a model as somebody wrote it.
#pragma once

#include "engine/capture/text/pieces.h"

namespace kerf::inline capture {

enum class CodeKind {
  Printed,  ///< has marks that only printers leave: freed values, annotations of tensors, stack traces, usual names
  Plain,    ///< neither: single operations on names, each assigned once
  Model     ///< source: an __init__ without such marks, calls within calls, names assigned again, control flow
};

CodeKind codeKind(const GraphTextPiece& piece);

}  // namespace kerf::inline capture
