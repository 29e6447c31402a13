#include "engine/torch_api/inference_tensors.h"

#include <algorithm>

#include "engine/ops/core/op_call.h"
#include "engine/torch_api/eager_ops.h"

namespace kerf::inline torch_api {
namespace {

/// Sizes and dtype are all that these ask of a tensor.
bool readsSizesOnly(const OpTarget& target) {
  const std::string_view text = target.text;
  return text.find("_like.") != std::string_view::npos || text.find(".new_") != std::string_view::npos;
}

/// Runs ops, and notices whether one reads the elements of some storages.
class ReadNoticingOps : public OpCaller {
 public:
  explicit ReadNoticingOps(std::vector<const Storage*> storages) : m_storages(std::move(storages)) {}

  Result<Value> call(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs) const override {
    const OpInfo* op = findOp(target);
    if ((op == nullptr || !has(op->traits, OpTrait::View)) && !readsSizesOnly(target)) {
      for (const Value& value : args) note(value);
      for (const auto& [name, value] : kwargs) note(value);
    }
    return referenceOps().call(target, args, kwargs);
  }

  bool found() const { return m_found; }

 private:
  void note(const Value& value) const {
    if (value.isList())
      for (const Value& item : value.list()) note(item);
    if (value.isTensor() && value.tensor().defined())
      m_found = m_found || std::ranges::find(m_storages, value.tensor().storage().get()) != m_storages.end();
  }

  std::vector<const Storage*> m_storages;
  mutable bool m_found = false;
};

}  // namespace

Result<void> refuseInferenceTensors(const std::vector<VariablePtr>& variables, const TrialBackward& backward) {
  std::vector<const Storage*> storages;
  for (const VariablePtr& variable : variables)
    if (variable->isInference && variable->tensor.defined()) storages.push_back(variable->tensor.storage().get());
  if (storages.empty()) return {};
  const ReadNoticingOps noticing(std::move(storages));
  const GradModeScope mode(false);
  // A way back that fails on ones fails on the real gradients, too, and says so then.
  static_cast<void>(backward(noticing));
  if (!noticing.found()) return {};
  return fail(
      ErrorCode::RuntimeFailed,
      "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
      "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use "
      "it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`.");
}

}  // namespace kerf::inline torch_api
