// SubsetBuilder: candidates that compute only some calls of a base candidate, on the values it was recorded with.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <unordered_set>
#include <vector>

#include "minifier/core/call_units.h"
#include "minifier/core/recorded_values.h"

namespace kerf::inline minifier::inline core {

/// Any set of calls is a valid candidate: operands from outside of it become inputs, and what others used of it
/// becomes an output, so that no chain of calls is needed to hold a graph together.
///
///     a = f(x); b = g(a); c = h(b); d = k(c, a); return d      {b, d}   →   b = g(a); d = k(c, a); return b, d
class SubsetBuilder {
 public:
  /// Both must outlive this object; `base` must be what `values` was made of.
  SubsetBuilder(const Candidate& base, RecordedValues& values);
  const std::vector<CallUnit>& units() const { return m_units; }
  UnitSet allUnits() const;
  /// None where an operand has no value, or nothing would be computed that anybody sees.
  std::optional<Candidate> build(const UnitSet& kept);

 private:
  struct Assembly;
  void keep(Assembly& assembly, const UnitSet& kept) const;
  bool writesInto(const Assembly& assembly, NodeId writer, const ValueVersion& input);
  void addUses(Assembly& assembly);
  bool addInputs(Assembly& assembly);
  void addCalls(Assembly& assembly) const;
  std::set<NodeId> deadCalls(const UnitSet& kept, bool isSure) const;
  std::vector<Argument> outputsOf(Assembly& assembly, const std::set<NodeId>& dead) const;

  const Candidate& m_base;
  RecordedValues& m_values;
  std::vector<CallUnit> m_units;
  GraphModule m_shell;                   ///< the base without its graph
  std::vector<std::size_t> m_positions;  ///< in the base's order, by NodeId::index
  std::vector<const Value*> m_inputs;    ///< of placeholders, by NodeId::index
};

/// Drops attributes and submodules that no node names.
void removeUnusedAttributes(GraphModule& module);
/// What `value` is, in the symbols that `before` has where they stand for the same numbers.
ValueMeta annotatedLike(const ValueMeta& before, const Value& value);
/// What stands for a value that needs no input; none for tensors, lists and numbers that are symbolic in `meta`.
std::optional<Argument> literalOf(const Value& value, const ValueMeta& meta);

}  // namespace kerf::inline minifier::inline core
