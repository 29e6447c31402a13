#include "engine/dynamo/frame_state.h"

#include <algorithm>

namespace kerf::inline dynamo {

std::vector<bool> FrameState::meetSizes(const std::string& source, const Sizes& sizes) {
  const auto [found, isNew] = m_tensors.try_emplace(source);
  SeenTensor& seen = found->second;
  if (isNew) seen.sizes.assign(sizes.begin(), sizes.end());
  // What was a number before has no size that it keeps.
  if (m_numbers.contains(source)) std::ranges::fill(seen.sizes, std::nullopt);
  if (seen.sizes.size() != sizes.size()) seen.ranksDiffer = true;
  std::vector<bool> differing(sizes.size(), seen.ranksDiffer);
  if (seen.ranksDiffer) return differing;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    if (seen.sizes[k] && *seen.sizes[k] != sizes[k]) seen.sizes[k].reset();
    differing[k] = !seen.sizes[k];
  }
  return differing;
}

bool FrameState::meetNumber(const std::string& source, PyObject* number) {
  const auto [found, isNew] = m_numbers.try_emplace(source);
  SeenNumber& seen = found->second;
  if (isNew) seen.value = Ref::borrow(number);
  const int equal = PyObject_RichCompareBool(seen.value.get(), number, Py_EQ);
  PyErr_Clear();
  if (equal == 0 || m_tensors.contains(source)) seen.differs = true;
  return seen.differs;
}

agreement::FrameState FrameState::told() const {
  const auto numberOrDynamic = [](const std::optional<std::int64_t>& size) {
    return size ? agreement::AgreedNumber{std::to_string(*size), false} : agreement::AgreedNumber{"auto_dynamic", true};
  };
  agreement::FrameState state;
  for (const auto& [source, seen] : m_tensors) {
    agreement::InputState& input = state[source];
    input.isTensor = true;
    if (seen.ranksDiffer) continue;
    input.sizes.emplace();
    for (const auto& size : seen.sizes) input.sizes->push_back(numberOrDynamic(size));
    input.strides.emplace();  // symbols of strides follow from those of sizes
  }
  for (const auto& [source, seen] : m_numbers) {
    if (state.contains(source)) continue;
    const Ref text = Ref::steal(PyObject_Repr(seen.value.get()));
    PyErr_Clear();
    const bool isDynamic = seen.differs || !text;
    state[source].scalar =
        agreement::AgreedNumber{isDynamic ? std::string("auto_dynamic") : textOf(text.get()), isDynamic};
  }
  return state;
}

void FrameState::follow(const agreement::FrameState& agreed) {
  for (auto& [source, seen] : m_tensors) {
    const auto found = agreed.find(source);
    if (found == agreed.end()) continue;
    const auto& sizes = found->second.sizes;
    if (!found->second.isTensor || !sizes || sizes->size() != seen.sizes.size()) {
      seen.ranksDiffer = true;
      continue;
    }
    for (std::size_t k = 0; k < seen.sizes.size(); ++k)
      if ((*sizes)[k].isDynamic) seen.sizes[k].reset();
  }
  for (auto& [source, seen] : m_numbers) {
    const auto found = agreed.find(source);
    if (found == agreed.end()) continue;
    seen.differs = seen.differs || found->second.isTensor || !found->second.scalar || found->second.scalar->isDynamic;
  }
}

}  // namespace kerf::inline dynamo
