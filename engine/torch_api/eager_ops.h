// EagerOps: torch's dispatcher for programs: kernels run at once, and calls on what requires a gradient are taped.
#pragma once

#include "engine/ops/core/op_registry.h"

namespace kerf::inline torch_api {

/// The OpCaller of eager mode. Results that belong to no variable yet become one where Python gets to see them.
const OpCaller& eagerOps();

/// torch.is_grad_enabled() and torch.is_inference_mode_enabled() of the program.
struct GradModes {
  bool grad = true;
  bool inference = false;
};
GradModes& gradModes();

/// What a call of eager mode gave several results by, for their names: null where the last one gave one.
struct NamedResults {
  const OpInfo* op = nullptr;
  const void* list = nullptr;  ///< which list it was
};
const NamedResults& lastNamedResults();

/// Sets the mode for a scope.
class GradModeScope {
 public:
  explicit GradModeScope(bool enabled) : m_before(gradModes().grad) { gradModes().grad = enabled; }
  ~GradModeScope() { gradModes().grad = m_before; }
  GradModeScope(const GradModeScope&) = delete;
  GradModeScope& operator=(const GradModeScope&) = delete;

 private:
  bool m_before;
};

}  // namespace kerf::inline torch_api
