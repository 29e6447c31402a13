// SymSizes: sizes or strides that may be expressions. Numbers lie in it as in Sizes, so that either becomes the other
// without a copy where nothing is symbolic.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "engine/symbolic/sym_int.h"

namespace kerf::inline symbolic {

using Sizes = std::vector<std::int64_t>;  ///< sizes or strides, in elements

class SymSizes {
 public:
  using value_type = SymInt;
  using iterator = SymInt*;
  using const_iterator = const SymInt*;

  SymSizes() = default;
  explicit SymSizes(std::size_t count, SymInt value = 0) : m_bits(count, value.bits()) {}
  SymSizes(std::initializer_list<SymInt> items) { assign(items.begin(), items.end()); }
  SymSizes(Sizes sizes) : m_bits(std::move(sizes)) {  // NOLINT: numbers are sizes
    for (std::int64_t& size : m_bits)
      if (SymInt::isExpression(size)) [[unlikely]]
        size = INT64_MIN;
  }
  SymSizes(const_iterator first, const_iterator last) { assign(first, last); }

  std::size_t size() const { return m_bits.size(); }
  bool empty() const { return m_bits.empty(); }
  SymInt& operator[](std::size_t i) { return begin()[i]; }
  SymInt operator[](std::size_t i) const { return begin()[i]; }
  SymInt& front() { return *begin(); }
  SymInt front() const { return *begin(); }
  SymInt& back() { return end()[-1]; }
  SymInt back() const { return end()[-1]; }
  // A SymInt is its one int64: both are read through that.
  iterator begin() { return reinterpret_cast<SymInt*>(m_bits.data()); }
  iterator end() { return begin() + m_bits.size(); }
  const_iterator begin() const { return reinterpret_cast<const SymInt*>(m_bits.data()); }
  const_iterator end() const { return begin() + m_bits.size(); }
  const SymInt* data() const { return begin(); }

  void push_back(SymInt value) { m_bits.push_back(value.bits()); }
  void reserve(std::size_t count) { m_bits.reserve(count); }
  void resize(std::size_t count, SymInt value = 0) { m_bits.resize(count, value.bits()); }
  void pop_back() { m_bits.pop_back(); }
  void clear() { m_bits.clear(); }
  void assign(const_iterator first, const_iterator last) {
    m_bits.clear();
    append(first, last);
  }
  void assign(std::size_t count, SymInt value) { m_bits.assign(count, value.bits()); }
  void append(const_iterator first, const_iterator last) {
    m_bits.reserve(m_bits.size() + std::size_t(last - first));
    for (; first != last; ++first) m_bits.push_back(first->bits());
  }
  void insert(const_iterator at, SymInt value) { m_bits.insert(m_bits.begin() + (at - begin()), value.bits()); }
  void insert(const_iterator at, std::size_t count, SymInt value) {
    m_bits.insert(m_bits.begin() + (at - begin()), count, value.bits());
  }
  void erase(const_iterator at) { m_bits.erase(m_bits.begin() + (at - begin())); }
  void erase(const_iterator first, const_iterator last) {
    m_bits.erase(m_bits.begin() + (first - begin()), m_bits.begin() + (last - begin()));
  }

  bool isSymbolic() const { return std::ranges::any_of(m_bits, SymInt::isExpression); }
  /// The numbers, where none is symbolic; else every expression is specialised.
  operator Sizes() const& { return std::vector<std::int64_t>(begin(), end()); }  // NOLINT: as a SymInt
  operator Sizes() && {                                                          // NOLINT
    specialise();
    return std::move(m_bits);
  }
  /// Every expression becomes its hint, with a guard.
  void specialise() {
    for (SymInt& size : *this) size = std::int64_t{size};
  }
  /// The numbers as they lie here. Nothing may be symbolic.
  const Sizes& numbers() const { return m_bits; }

  /// Item by item, guarding; different lengths differ.
  friend bool operator==(const SymSizes& a, const SymSizes& b) {
    return a.size() == b.size() &&
           std::equal(a.begin(), a.end(), b.begin(), [](SymInt x, SymInt y) { return bool(x == y); });
  }
  /// The same numbers and the same expressions: never a guard.
  bool isIdentical(const SymSizes& other) const { return m_bits == other.m_bits; }

 private:
  std::vector<std::int64_t> m_bits;
};
static_assert(sizeof(SymInt) == sizeof(std::int64_t) && alignof(SymInt) == alignof(std::int64_t));

}  // namespace kerf::inline symbolic
