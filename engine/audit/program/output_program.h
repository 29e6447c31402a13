// OutputProgram: the wrapper that Inductor writes, taken apart: its kernels, its functions, its inputs.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/audit/kernels/kernel_model.h"
#include "engine/audit/syntax/syntax_node.h"

namespace kerf::inline audit {

/// What get_args() says of an input: `rand_strided((4, 16), (16, 1), …)`, or the number of a size.
struct ExampleInput {
  const SyntaxNode* sizes = nullptr;
  const SyntaxNode* strides = nullptr;
  std::string type;
  std::optional<std::int64_t> number;
};

struct OutputProgram {
  SyntaxNode module;
  std::map<std::string, KernelModel, std::less<>> kernels;
  std::map<std::string, const SyntaxNode*, std::less<>> functions;  ///< by name; those of classes too
  const SyntaxNode* call = nullptr;
  std::map<std::string, ExampleInput, std::less<>> examples;
  std::set<std::string, std::less<>> globals;
  std::vector<std::string> partitions;  ///< Runner(partitions=[…])
};

OutputProgram readOutputProgram(std::string_view text, const SyntaxLimits& limits = {});

}  // namespace kerf::inline audit
