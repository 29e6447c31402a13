// NumberArray: doubles that several look at; who changes them gets a copy of their own first.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <vector>

namespace kerf::inline audit {

class NumberArray {
 public:
  NumberArray() = default;
  /// What they are is not set.
  explicit NumberArray(std::size_t count);
  NumberArray(std::initializer_list<double> numbers);
  explicit NumberArray(std::vector<double> numbers);
  static NumberArray zeros(std::size_t count);
  /// Numbers that `owner` keeps alive, and that nobody changes.
  static NumberArray borrow(std::shared_ptr<const void> owner, const double* data, std::size_t count);
  NumberArray part(std::size_t from, std::size_t count) const { return borrow(m_owner, m_data + from, count); }

  std::size_t size() const { return m_count; }
  const double* data() const { return m_data; }
  const double* begin() const { return m_data; }
  const double* end() const { return m_data + m_count; }
  double operator[](std::size_t i) const { return m_data[i]; }
  const std::shared_ptr<const void>& owner() const { return m_owner; }
  /// For changes.
  double* edit();

 private:
  std::shared_ptr<const void> m_owner;
  const double* m_data = nullptr;
  std::size_t m_count = 0;
  bool m_isOwn = false;
};

}  // namespace kerf::inline audit
