// Sharding rules: for one call, which placements of its operands it can run on part by part, and what its results are
// placed like then. A rule lists strategies; the dispatcher takes the cheapest.
#pragma once

#include <span>

#include "engine/distributed/sharding/spec.h"
#include "engine/ops/core/op_call.h"

namespace kerf::inline distributed::inline sharding {

/// A tensor among the arguments of a call, alone or as an item of a list.
struct ShardedOperand {
  Spec spec;
  std::size_t argument = 0;
  int item = -1;
};

struct Strategy {
  std::vector<Placements> outputs;  ///< one for each tensor that the call gives; one for all of them is enough
  std::vector<Placements> inputs;   ///< one for each operand
  std::optional<double> cost;       ///< in place of what redistributing the operands costs
};
using Strategies = std::vector<Strategy>;

struct ShardingCall {
  const BoundArguments& args;  ///< tensors are whole and without data
  const DeviceMesh& mesh;
  const std::vector<ShardedOperand>& operands;  ///< in the order of the schema
  const std::vector<Tensor>& outputs;           ///< whole, without data

  const ShardedOperand* find(std::size_t argument, int item = -1) const;
  /// The operand of an argument that is a tensor.
  const Spec& spec(std::size_t argument) const { return find(argument)->spec; }
  std::vector<const ShardedOperand*> items(std::size_t argument) const;
  bool isInplace() const;
  /// The operand that an out= form writes to; null for other forms.
  const ShardedOperand* out() const;
  std::size_t meshDims() const { return mesh.dims(); }
  /// Replicated everywhere.
  Placements replicated() const { return Placements(mesh.dims()); }
  /// Value of the argument of that name; none where the schema has none.
  Value named(std::string_view name) const;
  /// An integer argument, counted from the end of `rank` dimensions where negative.
  std::int64_t dimension(std::string_view name, std::int64_t rank, std::int64_t fallback = 0) const;
};

using ShardingFunction = Result<Strategies> (*)(const ShardingCall&);

struct ShardingRow {
  std::string_view op;  ///< "aten.mm.default"
  ShardingFunction rule;
};

/// An object of namespace scope in the file that has the rows; no list names the files.
class ShardingRegistration {
 public:
  explicit ShardingRegistration(std::span<const ShardingRow> rows);
  std::span<const ShardingRow> rows() const { return m_rows; }
  const ShardingRegistration* next() const { return m_next; }

 private:
  std::span<const ShardingRow> m_rows;
  const ShardingRegistration* m_next;
};

/// Null for ops without a rule of their own.
ShardingFunction findShardingRule(OpId op);
/// Every op that has one, sorted.
std::vector<std::string> opsWithShardingRules();

/// Placements along one dimension of the mesh: of the results, then of the operands.
using OneDim = std::vector<Placement>;
/// Every combination of them over all dimensions of the mesh that the operands' sizes allow. In-place and out= calls
/// keep the placement of what they write.
Result<Strategies> expandToMesh(const ShardingCall& call, const std::vector<OneDim>& choices, std::size_t outputs);
/// Where rules differ in tensor dimensions alone: the same choice for each way in which operands are sharded. Choices
/// without a shard stay; replicating everything comes first.
std::vector<OneDim> withShardKinds(const ShardingCall& call, const std::vector<OneDim>& choices, std::size_t outputs);

/// What the dispatcher and other rules run. `linearity`: -1 none, 0 of one operand, 1 of all together, 2 of one beside
/// the others. `kept`: a reduction whose partials the op keeps ("max"; "all").
Result<Strategies> pointwiseStrategies(const ShardingCall& call, int linearity = -1, std::string_view kept = {});
/// All operands replicated.
Result<Strategies> replicatedStrategies(const ShardingCall& call);

/// The strategy that PyTorch would choose: nothing to redistribute, nothing to communicate, least cost, in that order.
const Strategy& cheapest(const ShardingCall& call, const Strategies& strategies);
/// What redistributing the operands costs.
double costOf(const ShardingCall& call, const Strategy& strategy);

// Placements mapped one by one.
Placements withoutShardOf(Placements placements, std::int64_t dim);  ///< S(dim) becomes R
Placements withoutPartials(Placements placements);                   ///< partials become R
Placements replicatedOn(Placements placements, const Sizes& dims);   ///< partials and shards of dims
Placements replicatedFrom(Placements placements, std::int64_t dim);  ///< partials and shards of dims ≥ dim
Placements shiftedAfterInsert(Placements placements, std::int64_t dim);
Placements shiftedAfterRemove(Placements placements, std::int64_t dim);

}  // namespace kerf::inline distributed::inline sharding
