#include "engine/backend/cuda/resident_call.h"

#include <utility>

namespace kerf::inline backend {
namespace {

thread_local const ResidentCall* running = nullptr;

void addTensors(const Value& value, std::vector<Tensor>& tensors) {
  if (!value.isList()) return tensors.push_back(value.isTensor() ? value.tensor() : Tensor());
  for (const Value& item : value.list()) addTensors(item, tensors);
}

}  // namespace

std::optional<DeviceAddress> ResidentCall::addressOf(const StoragePtr& storage) const {
  const auto found = m_inputs.find(storage.get());
  return found == m_inputs.end() ? std::nullopt : std::optional(found->second);
}

const ResidentCall* ResidentCall::current() { return running; }
ResidentCall::Scope::Scope(const ResidentCall& call) : m_before(std::exchange(running, &call)) {}
ResidentCall::Scope::~Scope() { running = m_before; }

std::vector<Tensor> outputTensors(const Value& result) {
  std::vector<Tensor> tensors;
  addTensors(result, tensors);
  return tensors;
}

std::int64_t extentBytes(const Tensor& tensor) {
  std::int64_t last = 0;
  for (std::int64_t d = 0; d < tensor.dim(); ++d) {
    if (tensor.size(d) == 0) return 0;
    last += (tensor.size(d) - 1) * tensor.stride(d);
  }
  return (last + 1) * itemSize(tensor.dtype());
}

}  // namespace kerf::inline backend
