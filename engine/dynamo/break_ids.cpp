#include "engine/dynamo/break_ids.h"

#include <algorithm>
#include <iterator>

namespace kerf::inline dynamo {
namespace {

struct NumberedBreak {
  std::string_view type, id;
};

constexpr NumberedBreak kNumbered[] = {
    {"Attempt to trace generator", "GB0003"},
    {"Attempted to call function marked as skipped", "GB0007"},
    {"Attempted to inline function marked as skipped", "GB0008"},
    {"Attempted to read a deleted variable", "GB0010"},
    {"Attempted to read undefined local variable", "GB0011"},
    {"Attempted to wrap RNN, GRU, or LSTM", "GB0014"},
    {"Call to `torch._dynamo.graph_break()`", "GB0025"},
    {"Data dependent operator", "GB0033"},
    {"Dynamic shape operator", "GB0036"},
    {"Encountered tensor.is_inference() during tracing", "GB0045"},
    {"Encountered torch.is_inference_mode_enabled during tracing", "GB0046"},
    {"Failed to trace builtin operator", "GB0059"},
    {"Missing bytecode handler", "GB0082"},
    {"Observed exception", "GB0088"},
    {"Reconstruction failure", "GB0092"},
    {"Skip calling `torch.compiler.disable()`d function", "GB0098"},
    {"Skip inlining `torch.compiler.disable()`d function", "GB0099"},
    {"Unsupported Tensor.backward() call", "GB0123"},
    {"Unsupported Tensor.item() call with capture_scalar_outputs=False", "GB0124"},
    {"Unsupported Tensor.requires_grad_() call", "GB0125"},
    {"Unsupported call_id() without source", "GB0141"},
    {"Unsupported context manager", "GB0142"},
    {"Unsupported function call", "GB0147"},
    {"Unsupported hasattr call", "GB0150"},
    {"Unsupported method call", "GB0156"},
    {"Data-dependent branching", "GB0170"},
    {"copy.deepcopy()", "GB0179"},
    {"torch.* op returned non-Tensor", "GB0208"},
    {"call_method on generator", "GB0253"},
    {"User-defined object with overridden __hash__", "GB0364"},
    {"RuntimeError when making fake tensor call", "GB4315"},
    {"graph break in loop", "GB7000"},
    {"failed to bind arguments when attempting to inline", "GB7312"},
};

}  // namespace

std::string_view breakId(std::string_view type) {
  const auto* const found = std::ranges::find(kNumbered, type, &NumberedBreak::type);
  return found == std::end(kNumbered) ? std::string_view() : found->id;
}

}  // namespace kerf::inline dynamo
