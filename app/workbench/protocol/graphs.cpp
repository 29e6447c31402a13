#include "app/workbench/protocol/graphs.h"

#include <array>

namespace kerf::workbench {

const char* nodeKindName(NodeKind kind) {
  static constexpr std::array<const char*, nodeKinds> names{
      "Input", "Parameter", "Pointwise", "Reduction", "View", "Matmul", "Convolution", "Random", "Other", "Output"};
  return names.at(std::size_t(kind));
}

}  // namespace kerf::workbench
