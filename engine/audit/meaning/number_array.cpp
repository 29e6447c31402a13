#include "engine/audit/meaning/number_array.h"

#include <algorithm>

#include "engine/tensor/empty.h"

namespace kerf::inline audit {

constexpr std::size_t smallBlock = 8192;

/// Large blocks are those of storages, which are used again: fresh pages cost more than what is computed in them.
NumberArray::NumberArray(std::size_t count) : m_count(count), m_isOwn(true) {
  if (count > smallBlock) {
    if (auto storage = emptyStorage(std::int64_t(count * sizeof(double)))) {
      m_data = reinterpret_cast<const double*>((*storage)->data());
      m_owner = std::move(*storage);
      return;
    }
  }
  const std::shared_ptr<double[]> block = std::make_shared_for_overwrite<double[]>(count);
  m_data = block.get();
  m_owner = block;
}

NumberArray::NumberArray(std::initializer_list<double> numbers) : NumberArray(numbers.size()) {
  std::ranges::copy(numbers, edit());
}

NumberArray::NumberArray(std::vector<double> numbers) {
  const auto kept = std::make_shared<const std::vector<double>>(std::move(numbers));
  *this = borrow(kept, kept->data(), kept->size());
}

NumberArray NumberArray::zeros(std::size_t count) {
  NumberArray numbers(count);
  std::fill_n(numbers.edit(), count, 0.0);
  return numbers;
}

NumberArray NumberArray::borrow(std::shared_ptr<const void> owner, const double* data, std::size_t count) {
  NumberArray numbers;
  numbers.m_owner = std::move(owner);
  numbers.m_data = data;
  numbers.m_count = count;
  return numbers;
}

double* NumberArray::edit() {
  if (!m_isOwn || m_owner.use_count() != 1) {
    NumberArray copy(m_count);
    std::copy_n(m_data, m_count, const_cast<double*>(copy.m_data));
    *this = std::move(copy);
  }
  return const_cast<double*>(m_data);
}

}  // namespace kerf::inline audit
