// RecordedValues: what the nodes of a candidate evaluate to, from runs of the interpreter when first asked, in bounded
// memory.
#pragma once

#include <compare>
#include <map>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "minifier/core/copied_values.h"
#include "minifier/core/minify.h"

namespace kerf::inline minifier::inline core {

/// A node's value as it was after `writes` calls had written into its memory; 0: as it was computed.
///
///     y = view(x); add_(x, 1); z = neg(y)      →      neg sees {y, 1}
struct ValueVersion {
  NodeId node;
  std::size_t writes = 0;
  auto operator<=>(const ValueVersion&) const = default;
};

class RecordedValues {
 public:
  static constexpr std::int64_t usualBudget = std::int64_t{512} << 20;

  /// `candidate` must outlive this object and stay unchanged. At most about `budget` bytes of values are held; what did
  /// not fit is computed again when it is needed.
  RecordedValues(const Candidate& candidate, std::stop_token stop, std::int64_t budget = usualBudget);
  ~RecordedValues();
  RecordedValues(const RecordedValues&) = delete;
  RecordedValues& operator=(const RecordedValues&) = delete;

  /// The node's value as it was computed. Null if the run did not get as far as `node` (an op without a kernel, a
  /// failing one, cancellation), or the graph lacks it.
  const Value* find(NodeId node);
  /// Which version of `node` its user `user` sees.
  ValueVersion seenBy(NodeId node, NodeId user);
  /// The calls that wrote into the memory of `node` after it was computed, in order.
  const std::vector<NodeId>& writersOf(NodeId node);
  /// Holds all of `wanted` at once, as far as they can be computed. What find() and compact() gave before is gone.
  void require(std::span<const ValueVersion> wanted);
  /// A held value in a storage of its own that is no larger than it needs to be; null if it is not held.
  const Value* compact(const ValueVersion& version);

 private:
  class Run;
  void record();
  bool isHeld(const ValueVersion& version) const { return m_held.contains(version); }
  const Candidate& m_candidate;
  std::stop_token m_stop;
  std::int64_t m_budget;
  bool m_ran = false;
  int m_runs = 0;
  bool m_overflowed = false;           ///< the values of a whole run do not fit
  bool m_writes = false;               ///< some call of the graph writes into memory
  std::vector<ValueVersion> m_pinned;  ///< in order
  std::map<ValueVersion, Value> m_held;
  std::map<ValueVersion, Value> m_compact;
  std::map<NodeId, std::vector<NodeId>> m_writers;
  std::vector<std::size_t> m_positions;  ///< in the graph's order, by NodeId::index
};

}  // namespace kerf::inline minifier::inline core
