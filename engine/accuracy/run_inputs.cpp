#include "engine/accuracy/run_inputs.h"

#include <algorithm>
#include <set>

#include "engine/accuracy/same_two_models.h"
#include "engine/support/thread_pool.h"

namespace kerf::inline accuracy {
namespace {

void collectStorages(const Value& value, std::set<const Storage*>& into) {
  if (value.isTensor() && value.tensor().defined()) into.insert(value.tensor().storage().get());
  if (value.isList())
    for (const Value& item : value.list()) collectStorages(item, into);
}

}  // namespace

std::vector<bool> needOwnMemory(const ValueList& inputs, const ResultNames& names) {
  const auto written = [&](std::size_t i) { return i >= names.inputs.size() || names.mayWrite(i); };
  std::set<const Storage*> writtenStorages;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (written(i)) collectStorages(inputs[i], writtenStorages);
  std::vector<bool> own(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::set<const Storage*> storages;
    collectStorages(inputs[i], storages);
    own[i] = std::ranges::any_of(storages, [&](const Storage* storage) { return writtenStorages.contains(storage); });
  }
  return own;
}

Result<ValueList> inputsForRun(const ValueList& inputs, const ResultNames& names) {
  const std::vector<bool> own = needOwnMemory(inputs, names);
  ValueList copied;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (own[i]) copied.push_back(inputs[i]);
  KERF_TRY(const ValueList clones, cloneInputs(copied, false));
  ValueList result = inputs;
  for (std::size_t i = 0, next = 0; i < inputs.size(); ++i)
    if (own[i]) result[i] = clones[next++];
  return result;
}

SharedInputs::SharedInputs(const ValueList& inputs, const std::vector<bool>& own) : m_inputs(inputs) {
  std::set<const Storage*> watched;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!own[i]) collectStorages(inputs[i], watched);
  m_storages.assign(watched.begin(), watched.end());
  m_before = digests();
}

std::vector<Hash128> SharedInputs::digests() const {
  std::vector<Hash128> digests(m_storages.size());
  parallelFor(std::int64_t(m_storages.size()), 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = std::size_t(begin); i < std::size_t(end); ++i) digests[i] = hashBytes(m_storages[i]->view());
  });
  return digests;
}

std::vector<std::size_t> SharedInputs::changed() const {
  const std::vector<Hash128> now = digests();
  std::set<const Storage*> overwritten;
  for (std::size_t i = 0; i < now.size(); ++i)
    if (now[i] != m_before[i]) overwritten.insert(m_storages[i]);
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < m_inputs.size() && !overwritten.empty(); ++i) {
    std::set<const Storage*> storages;
    collectStorages(m_inputs[i], storages);
    if (std::ranges::any_of(storages, [&](const Storage* storage) { return overwritten.contains(storage); }))
      positions.push_back(i);
  }
  return positions;
}

Result<Tensor> inFloat64(const Tensor& tensor) {
  if (!tensor.defined() || !isFloating(tensor.dtype()) || tensor.dtype() == DType::Float64) return tensor;
  std::int64_t span = tensor.numel() == 0 ? 0 : 1;
  for (std::size_t d = 0; span > 0 && d < tensor.sizes().size(); ++d)
    span += (tensor.sizes()[d] - 1) * tensor.strides()[d];
  const Tensor flat(tensor.storage(), tensor.dtype(), {span}, {1}, tensor.offset());
  KERF_TRY(const Tensor wide, flat.to(DType::Float64));
  Tensor result(wide.storage(), DType::Float64, tensor.sizes(), tensor.strides(), wide.offset());
  result.setDevice(tensor.device());
  result.requiresGrad = tensor.requiresGrad;
  result.isLeaf = tensor.isLeaf;
  return result;
}

}  // namespace kerf::inline accuracy
