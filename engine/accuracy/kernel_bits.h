// KernelBits: whether one kernel of a compilation can give the bits that eager mode gives op by op, and why not.
#pragma once

#include <string>
#include <vector>

#include "engine/support/fields.h"

namespace kerf::inline accuracy {

struct BitReason {
  std::string cause;               ///< "fused multiply-add", "order of sums", …
  std::vector<std::string> nodes;  ///< in graph order
  std::string detail;              ///< which op eager mode calls in their place; mostly empty

  KERF_FIELDS(cause, nodes, detail)
};

struct KernelBits {
  std::string part;                ///< of the compilation: "[0/0] forward"; empty where there is one
  std::string kernel;              ///< "triton_poi_fused_add_0", "extern_kernels.mm:2"
  std::string code;                ///< "Triton", "C++", "Kerf"; empty: an existing function
  std::vector<std::string> nodes;  ///< calls that it computes, in graph order
  bool known = true;               ///< its nodes are: else nothing is said of it
  std::vector<BitReason> reasons;  ///< none: it can be equal to eager mode in every bit
  std::string condition;           ///< what that asks for: "where the library takes the same algorithm"; mostly empty

  bool canBeEqual() const { return known && reasons.empty(); }

  KERF_FIELDS(part, kernel, code, nodes, known, reasons, condition)
};

}  // namespace kerf::inline accuracy
