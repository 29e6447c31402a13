// torch.autocast: the dtype in which a region runs its ops, and what it does to the arguments of each (PyTorch's
// aten/src/ATen/autocast_mode.cpp).
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "engine/ops/core/op_registry.h"

namespace kerf::inline ops {

/// The setting of one thread.
struct Autocast {
  bool enabled = false;
  std::string device;  ///< "cpu", "cuda": tensors elsewhere stay as they are
  DType dtype = DType::BFloat16;
};

/// What holds for the calling thread now.
const Autocast& currentAutocast();

/// Sets it for a scope. What the scope enters and does not leave ends with it.
class AutocastScope {
 public:
  explicit AutocastScope(Autocast setting = {});
  ~AutocastScope();
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

 private:
  Autocast m_before;
  std::size_t m_depth;  ///< of _enter_autocast
};

/// The setting that the arguments (device_type, dtype, enabled, …) ask for: without a dtype float16, on a CPU bfloat16.
Result<Autocast> autocastOf(const ValueList& args, std::size_t first = 0);
/// torch.amp.autocast_mode._enter_autocast: sets it until the matching exitAutocast().
Result<Value> enterAutocast(const ValueList& args);
void exitAutocast();

/// A call with the arguments that autocast passes on.
struct AutocastCall {
  ValueList args;
  KeywordValues kwargs;
};
using ConvertTensor = std::function<Result<Value>(const Value& tensor, DType dtype)>;

/// `caller` with what autocast makes of a call of `op`, if it is on and makes something of it; else nothing.
///
///     if (auto cast = callInAutocast(*op, args, kwargs, *this)) return std::move(*cast);
std::optional<Result<Value>> callInAutocast(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs,
                                            const OpCaller& caller);

/// What a call of `op` becomes under the current setting; nothing where it stays as it is. While the result runs,
/// autocast must be off (AutocastScope()), as it is in PyTorch. Doubles, integers and other devices' tensors stay.
Result<std::optional<AutocastCall>> autocastCall(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs,
                                                 const ConvertTensor& convert);

}  // namespace kerf::inline ops
