// Texts of symbolic integers ("s0", "2*s33 + 1") and of the annotations that mention them. Private to engine/ir.
#pragma once

#include <optional>
#include <string_view>

#include "engine/ir/node.h"

namespace kerf::inline ir {

/// "s0", "u12", "zuf0": the name of a symbol of PyTorch's ShapeEnv.
bool isSymbolName(std::string_view text);

/// What print_readable wrote between the quotes, and which of its optional parts were there.
struct ParsedAnnotation {
  ValueMeta value;
  bool complete = false;  ///< `value` says all of the text
};
/// "f32[2, s0][3, 1]cuda:0", "Sym(s0)", "DTensor(f32[…], …)" (known only in part).
ParsedAnnotation parseAnnotation(std::string_view text);

}  // namespace kerf::inline ir
