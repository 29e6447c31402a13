// HeldValues: versions of nodes' values within a budget of bytes.
#pragma once

#include <compare>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/ir/argument.h"
#include "engine/tensor/value.h"

namespace kerf::inline minifier::inline core {

/// A node's value as it was after `writes` calls had written into its memory; 0: as it was computed.
///
///     y = view(x); add_(x, 1); z = neg(y)      →      neg sees {y, 1}
struct ValueVersion {
  NodeId node;
  std::size_t writes = 0;
  auto operator<=>(const ValueVersion&) const = default;
};

/// A storage counts once, however many of the values look at it, and only while one of them does. Where all of them
/// take more than the budget, the largest that are not pinned go.
class HeldValues {
 public:
  explicit HeldValues(std::int64_t budget) : m_budget(budget) {}

  /// Forgets everything; `pinned`, in order, stay whatever they take.
  void restart(std::vector<ValueVersion> pinned);
  /// The storages of `value` live anyway and count nothing.
  void exempt(const Value& value);
  /// In place of what was held of that version. May not stay.
  void hold(const ValueVersion& version, const Value& value);
  /// Null if it is not held.
  const Value* find(const ValueVersion& version) const;
  std::vector<ValueVersion> versionsOf(NodeId node) const;

  const std::vector<ValueVersion>& pinned() const { return m_pinned; }
  std::int64_t bytes() const { return m_bytes; }
  /// Whether something had to go, ever.
  bool overflowed() const { return m_overflowed; }

 private:
  struct Held {
    Value value;
    std::int64_t largest = 0;  ///< bytes of the largest storage that counts
  };
  struct Holders {
    std::size_t count = 0;
    std::int64_t bytes = 0;
  };
  std::int64_t count(const Value& value);
  void release(const ValueVersion& version);

  std::int64_t m_budget;
  std::int64_t m_bytes = 0;
  bool m_overflowed = false;
  std::vector<ValueVersion> m_pinned;
  std::map<ValueVersion, Held> m_values;
  std::set<std::pair<std::int64_t, ValueVersion>> m_bySize;  ///< those that may go
  std::unordered_map<const Storage*, Holders> m_holders;     ///< alive: some value looks at each
  std::unordered_set<const Storage*> m_exempt;
};

/// Every tensor with data in `value`, items of lists too.
template <class Visit>
void forEachTensor(const Value& value, const Visit& visit) {
  if (value.isTensor() && value.tensor().defined()) visit(value.tensor());
  if (value.isList())
    for (const Value& item : value.list()) forEachTensor(item, visit);
}

/// `value` with map(tensor) for every tensor in it.
template <class Map>
Value mapTensors(const Value& value, const Map& map) {
  if (value.isTensor()) return map(value.tensor());
  if (!value.isList()) return value;
  ValueList items;
  for (const Value& item : value.list()) items.push_back(mapTensors(item, map));
  return items;
}

}  // namespace kerf::inline minifier::inline core
