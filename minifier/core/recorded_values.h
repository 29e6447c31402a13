// RecordedValues: what every node of a candidate evaluates to, from one run of the interpreter when first asked.
#pragma once

#include <stop_token>
#include <unordered_map>

#include "minifier/core/minify.h"

namespace kerf::inline minifier::inline core {

class RecordedValues {
 public:
  /// `candidate` must outlive this object and stay unchanged.
  RecordedValues(const Candidate& candidate, std::stop_token stop) : m_candidate(candidate), m_stop(std::move(stop)) {}
  /// Null if the run did not get as far as `node` (an op without a kernel, a failing one, cancellation).
  const Value* find(NodeId node);

 private:
  void record();
  const Candidate& m_candidate;
  std::stop_token m_stop;
  bool m_ran = false;
  std::unordered_map<NodeId, Value> m_values;
};

/// Deep copy in which tensors that shared a storage still do.
Result<ValueList> copyInputs(const ValueList& inputs);
/// The value in a storage of its own that is no larger than it needs to be; strides stay.
Result<Value> compacted(const Value& value);

}  // namespace kerf::inline minifier::inline core
