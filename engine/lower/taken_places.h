// TakenPlaces: which bytes of an arena are taken at which times; finds a place without a look at every buffer.
#pragma once

#include <cstdint>
#include <vector>

namespace kerf::inline lower {

/// Bytes [begin, end) of the arena.
struct ArenaRange {
  std::int64_t begin = 0, end = 0;
};

/// Steps in which a buffer is needed, both included.
struct StepSpan {
  int first = 0, last = 0;
};

/// A segment tree over the steps. What is taken in all steps below a node is noted there, once; what is taken in some of
/// them, there as well, as ranges that are united, so that a node of many buffers side by side holds few.
class TakenPlaces {
 public:
  /// For times within `all`.
  explicit TakenPlaces(StepSpan all);
  void take(StepSpan time, ArenaRange place);
  /// Begin of the smallest gap of at least `bytes` (more than 0) that is free all the time, the lowest of several; the
  /// end of what is taken where there is none.
  std::int64_t bestFit(StepSpan time, std::int64_t bytes) const;

 private:
  using Ranges = std::vector<ArenaRange>;  ///< ascending; they do not touch
  struct Node {
    Ranges throughout;  ///< taken in all steps of the node
    Ranges ever;        ///< and what is taken in some of them
  };
  static void unite(Ranges& ranges, ArenaRange range);
  void take(std::size_t node, StepSpan span, StepSpan time, ArenaRange place);
  void collect(std::size_t node, StepSpan span, StepSpan time, Ranges& found) const;

  StepSpan m_all;
  std::vector<Node> m_nodes;  ///< the children of i are 2 i + 1 and 2 i + 2
};

}  // namespace kerf::inline lower
