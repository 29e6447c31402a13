// Signature and return statement of generated code in its variants (torch.fx's CodeGen classes). Private to engine/ir.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/ir/printer.h"

namespace kerf::inline ir {

/// `base.a.b`, with getattr(base, "0") where a step is no identifier.
std::string attributePath(std::string base, std::string_view path);
/// `: "f32[2]"` or ` : torch.Tensor` or nothing, as it follows a name.
std::string annotationSuffix(const Node& node, const PythonCodeOptions& options);
/// `def forward(…):` and the lines that bind the placeholders, relative to the `def`'s indentation.
std::vector<std::string> signatureLines(const GraphModule& module, const PythonCodeOptions& options);
/// The `return` statement, relative to the body's indentation.
std::vector<std::string> returnLines(const CodeGen& codegen, const Graph& graph, const Argument& value);

}  // namespace kerf::inline ir
