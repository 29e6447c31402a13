// HeldValues: count() and release() are each other's inverse; nothing else changes what is counted.
#include "minifier/core/held_values.h"

#include <algorithm>

namespace kerf::inline minifier::inline core {

void HeldValues::restart(std::vector<ValueVersion> pinned) {
  m_values.clear();
  m_bySize.clear();
  m_holders.clear();
  m_bytes = 0;
  m_pinned = std::move(pinned);
}

void HeldValues::exempt(const Value& value) {
  forEachTensor(value, [&](const Tensor& tensor) { m_exempt.insert(tensor.storage().get()); });
}

void HeldValues::hold(const ValueVersion& version, const Value& value) {
  const Value kept = value;  // it may be the one that is released
  release(version);
  const std::int64_t largest = count(kept);
  m_values.emplace(version, Held{kept, largest});
  if (largest > 0 && !std::ranges::binary_search(m_pinned, version)) m_bySize.emplace(largest, version);
  while (m_bytes > m_budget && !m_bySize.empty()) {
    const ValueVersion gone = std::prev(m_bySize.end())->second;
    release(gone);
    m_overflowed = true;
  }
}

/// The bytes of the largest storage among those that count.
std::int64_t HeldValues::count(const Value& value) {
  std::int64_t largest = 0;
  forEachTensor(value, [&](const Tensor& tensor) {
    const Storage* storage = tensor.storage().get();
    if (m_exempt.contains(storage)) return;
    Holders& holders = m_holders[storage];
    if (holders.count++ == 0) m_bytes += holders.bytes = storage->bytes();
    largest = std::max(largest, holders.bytes);
  });
  return largest;
}

void HeldValues::release(const ValueVersion& version) {
  const auto held = m_values.find(version);
  if (held == m_values.end()) return;
  forEachTensor(held->second.value, [&](const Tensor& tensor) {
    const auto holders = m_holders.find(tensor.storage().get());
    if (holders == m_holders.end() || --holders->second.count > 0) return;
    m_bytes -= holders->second.bytes;
    m_holders.erase(holders);
  });
  m_bySize.erase({held->second.largest, version});
  m_values.erase(held);
}

const Value* HeldValues::find(const ValueVersion& version) const {
  const auto held = m_values.find(version);
  return held == m_values.end() ? nullptr : &held->second.value;
}

std::vector<ValueVersion> HeldValues::versionsOf(NodeId node) const {
  std::vector<ValueVersion> versions;
  for (auto held = m_values.lower_bound({node, 0}); held != m_values.end() && held->first.node == node; ++held)
    versions.push_back(held->first);
  return versions;
}

}  // namespace kerf::inline minifier::inline core
