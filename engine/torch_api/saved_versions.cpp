#include "engine/torch_api/saved_versions.h"

#include <algorithm>

#include "engine/ops/core/composite.h"
#include "engine/torch_api/grad_node.h"

namespace kerf::inline torch_api {
namespace {

/// "torch.FloatTensor" of a dtype, as error messages name types.
std::string oldTypeName(DType dtype) {
  static constexpr std::pair<DType, std::string_view> names[] = {
      {DType::Float32, "Float"}, {DType::Float64, "Double"},
      {DType::Float16, "Half"},  {DType::BFloat16, "BFloat16"},
      {DType::Int64, "Long"},    {DType::Int32, "Int"},
      {DType::Bool, "Bool"},     {DType::Complex64, "ComplexFloat"}};
  const auto* found = std::ranges::find(names, dtype, &std::pair<DType, std::string_view>::first);
  return fmt::format("torch.{}Tensor", found == std::end(names) ? "" : found->second);
}

std::string described(const Variable& variable) {
  std::string text =
      fmt::format("[{} [{}]]", oldTypeName(variable.tensor.dtype()), fmt::join(variable.tensor.sizes(), ", "));
  if (variable.gradFn) text += fmt::format(", which is output {} of {},", variable.outputNumber, variable.gradFn->name);
  return text;
}

}  // namespace

void noteVersions(const Value& value, unsigned ahead, std::vector<SavedVersion>& into) {
  if (value.isList())
    for (const Value& item : value.list()) noteVersions(item, ahead, into);
  if (!value.isTensor() || !value.tensor().defined()) return;
  const VariablePtr variable = variableOf(value.tensor());
  if (!variable || !variable->version) return;
  into.push_back({value.tensor().storage().get(), variable->version, *variable->version + ahead, described(*variable)});
}

std::vector<SavedVersion> staleOf(const std::vector<SavedVersion>& saved) {
  std::vector<SavedVersion> stale;
  std::ranges::copy_if(saved, std::back_inserter(stale),
                       [](const SavedVersion& entry) { return *entry.version != entry.expected; });
  return stale;
}

Result<void> VersionCheckedOps::check(const Value& value) const {
  if (value.isList())
    for (const Value& item : value.list()) KERF_CHECK(check(item));
  if (!value.isTensor() || !value.tensor().defined()) return {};
  for (const SavedVersion& entry : m_stale)
    if (entry.storage == value.tensor().storage().get())
      return fail(
          ErrorCode::RuntimeFailed,
          "one of the variables needed for gradient computation has been modified by an inplace operation: {} is "
          "at version {}; expected version {} instead. Hint: enable anomaly detection to find the operation that "
          "failed to compute its gradient, with torch.autograd.set_detect_anomaly(True).",
          entry.text, *entry.version, entry.expected);
  return {};
}

Result<Value> VersionCheckedOps::call(const OpTarget& target, const ValueList& args,
                                      const KeywordValues& kwargs) const {
  const OpInfo* op = findOp(target);
  if (op == nullptr || !has(op->traits, OpTrait::View)) {
    for (const Value& value : args) KERF_CHECK(check(value));
    for (const auto& [name, value] : kwargs) KERF_CHECK(check(value));
  }
  return m_run.value(target, args, kwargs);
}

}  // namespace kerf::inline torch_api
