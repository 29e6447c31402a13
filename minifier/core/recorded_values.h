// RecordedValues: what the nodes of a candidate evaluate to, from runs of the interpreter when first asked, in bounded
// memory.
#pragma once

#include <map>
#include <span>
#include <stop_token>
#include <vector>

#include "minifier/core/held_values.h"
#include "minifier/core/minify.h"

namespace kerf::inline minifier::inline core {

class RecordedValues {
 public:
  static constexpr std::int64_t usualBudget = std::int64_t{512} << 20;

  /// `candidate` must outlive this object and stay unchanged. At most about `budget` bytes of values are held; what did
  /// not fit is computed again when it is needed.
  RecordedValues(const Candidate& candidate, std::stop_token stop, std::int64_t budget = usualBudget);
  ~RecordedValues();
  RecordedValues(const RecordedValues&) = delete;
  RecordedValues& operator=(const RecordedValues&) = delete;

  /// Which version of `node` its user `user` sees.
  ValueVersion seenBy(NodeId node, NodeId user);
  /// The calls that wrote into the memory of `node` after it was computed, in order; always the same, whatever else was
  /// asked before.
  const std::vector<NodeId>& writersOf(NodeId node);
  /// The operand whose memory the value of `node` looks at; invalid if that is its own.
  ///
  ///     y = view(x)      →      x
  NodeId viewedBy(NodeId node);
  /// Holds all of `wanted` at once, as far as they can be computed: not where the run did not get as far (an op without
  /// a kernel, a failing one, cancellation). What compact() gave before is gone.
  void require(std::span<const ValueVersion> wanted);
  /// A held value in a storage of its own that is no larger than it needs to be; null if it is not held.
  const Value* compact(const ValueVersion& version);
  /// Of the interpreter, so far.
  int runs() const { return m_runs; }

 private:
  class Run;
  void record(std::vector<ValueVersion> pinned);
  const Candidate& m_candidate;
  std::stop_token m_stop;
  int m_runs = 0;
  bool m_writes = false;  ///< some call of the graph writes into memory
  HeldValues m_held;
  std::map<ValueVersion, Value> m_compact;
  std::map<NodeId, std::vector<NodeId>> m_writers;  ///< of the first run, which is whole where something writes
  std::map<NodeId, NodeId> m_viewed;                ///< of that run too
  std::vector<std::size_t> m_positions;             ///< in the graph's order, by NodeId::index
};

/// The nodes whose memory a call writes into.
std::vector<NodeId> writtenBy(const Node& node);

}  // namespace kerf::inline minifier::inline core
