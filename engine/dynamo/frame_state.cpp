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

}  // namespace kerf::inline dynamo
