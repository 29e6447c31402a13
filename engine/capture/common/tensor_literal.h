// Tensors written in Python source: `tensor([1., 2.])`, `torch.randn([8], dtype=…)`, `torch.nn.Parameter(…)`.
#pragma once

#include <optional>
#include <string>

#include "engine/capture/common/capture.h"
#include "engine/ir/python_expression.h"

namespace kerf::inline capture {

struct TensorSource {
  Tensor tensor;
  bool isParameter = false;
  bool lostData = false;  ///< PyTorch wrote only the shape: the values are replacements
};

/// Whether the text begins like a tensor that readTensorSource understands.
bool looksLikeTensor(std::string_view text);
/// Evaluates without running Python. `seed` chooses the replacement values of torch.randn.
Result<TensorSource> readTensorSource(const PythonExpression& expression, std::uint64_t seed,
                                      const ImportLimits& limits);

/// Python text that torch evaluates to this tensor exactly: `tensor([0.5, inf], dtype=torch.float64)`.
std::string tensorLiteral(const Tensor& tensor);

}  // namespace kerf::inline capture
