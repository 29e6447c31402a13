// ShardedCaller: an OpCaller whose tensors are whole in sizes and have placements. It breaks calls down to those that
// PyTorch dispatches, finds each one's strategy by the sharding column, and leaves to its subclass what that means:
// running parts with collectives, writing them into a graph, or only looking.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "engine/autograd/tape.h"
#include "engine/distributed/sharding/rules.h"
#include "engine/ir/op_caller.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::inline distributed::inline dtensor {

/// Tensor::traced of tensors without placements that count as replicated: what a program made without operands.
inline constexpr int madeByProgram = -2;

class ShardedCaller : public OpCaller {
 public:
  explicit ShardedCaller(const DeviceMesh& mesh, int depth = 0) : m_mesh(mesh), m_depth(depth) {}

  /// Composite calls are broken down as PyTorch's dispatcher does. UnsupportedOp where an op has no strategy for these
  /// placements, or where tensors without placements and of several elements meet those that have some.
  Result<Value> call(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs) const override;

  const DeviceMesh& mesh() const { return m_mesh; }
  /// Null for tensors without placements.
  const Spec* specOf(const Tensor& tensor) const;
  /// The tape on which calls are noted while it is not null.
  void setTape(Tape* tape) const { m_tape = tape; }
  /// A tensor of this rank alone, known to the tape: what is computed from it may be differentiated.
  Tensor asLocal(const Tensor& tensor) const;
  /// Overloads that got a strategy, in order.
  const std::vector<std::string>& dispatched() const { return m_dispatched; }
  void clearDispatched() { m_dispatched.clear(); }

 protected:
  struct Dispatch {
    const BoundArguments& args;
    const std::vector<ShardedOperand>& operands;
    const std::vector<Tensor>& tensors;  ///< of the operands
    const Strategy& strategy;
    const Value& shapes;  ///< whole results without data; none where the call gives no tensor
    const ShardingCall& call;
    const Strategies& offered;  ///< of which `strategy` is one
  };
  /// The call's result: tensors with placements by handle().
  virtual Result<Value> execute(const Dispatch& dispatch) const = 0;
  /// `tensor`, which is placed as `from` says, as a tensor of its own under `to`. A tensor without placements is whole on
  /// every rank.
  virtual Result<Tensor> placed(const Tensor& tensor, const Spec& from, const Placements& to) const = 0;
  /// Whether calls are run or written down on parts: false where it only looks where placements go.
  virtual bool hasParts() const { return true; }
  /// A call without placements. What it gives is the same on every rank, and counts as replicated from then on.
  virtual Result<Value> plain(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) const;
  /// `tensor` was given other sizes in place: it is what `now` is.
  virtual void becameOther(const Tensor& tensor, const Tensor& now) const = 0;
  /// A tensor of these sizes and placements; its number is Tensor::traced, counted from 0.
  Tensor handle(const Tensor& shape, Placements placements) const;
  Tape* tape() const { return m_tape; }
  /// The number of handles so far.
  int handles() const { return int(m_specs.size()); }
  /// The placements of the result with that number.
  static const Placements& outputOf(const Dispatch& dispatch, std::size_t index);
  /// Gives each tensor in `shapes` to `make` with its number.
  static Result<Value> mapTensors(const Value& shapes,
                                  const std::function<Result<Value>(const Tensor&, std::size_t)>& make);
  /// The argument that the call writes into and gives back (in-place and out= forms); null for others.
  static const Value* writtenArgument(const BoundArguments& args);

 private:
  Result<Value> callRowOf(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) const;
  Result<Value> dispatch(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) const;
  Result<Value> plainNoted(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) const;
  Result<Value> reshape(const BoundArguments& bound) const;
  std::optional<Result<Value>> dividedGradient(const OpInfo& op, const ValueList& args,
                                               const KeywordValues& kwargs) const;
  bool isBrokenDownForTape(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) const;
  std::optional<Sizes> squeezedByWhole(const OpInfo& op, const ValueList& args) const;
  /// The strategies of a call, and the program that they come from where they come from one.
  struct Offer {
    Strategies strategies;
    Composite program = nullptr;
  };
  Result<Offer> offerOf(const ShardingCall& call) const;
  bool runsOnParts(const Dispatch& dispatch) const;
  Result<Value> executeProgram(const Dispatch& dispatch, Composite program) const;
  Result<std::vector<ShardedOperand>> operandsOf(const BoundArguments& bound, std::vector<Tensor>& tensors) const;

  Result<void> checkWrites(const BoundArguments& bound, const std::vector<ShardedOperand>& operands,
                           const std::vector<Tensor>& tensors, const Strategy& strategy) const;
  void noteCopies(const OpInfo& op, const std::vector<ShardedOperand>& operands, const std::vector<Tensor>& tensors,
                  const Strategy& strategy, int from) const;

  const DeviceMesh& m_mesh;
  int m_depth;
  mutable Tape* m_tape = nullptr;
  mutable std::vector<Spec> m_specs;  ///< by Tensor::traced; without placements: of this rank alone
  mutable std::set<int> m_copies;     ///< what would be views, had they not been redistributed
  mutable std::vector<std::string> m_dispatched;
};

/// The program that an op without a rule gets its strategies from; null where there is none.
Composite shardingProgram(const OpInfo& op);
/// Strategies of an op without a rule: those with which its decomposition needs no redistribution, along one dimension of
/// the mesh. Empty where there are none.
std::vector<OneDim> decomposedChoices(const ShardingCall& call, int depth);

/// The arguments of a call on parts: operands replaced, and sizes that are written out made those of this rank's part
/// (`coordinate`) of the first result.
BoundArguments localArguments(const BoundArguments& args, const std::vector<ShardedOperand>& operands,
                              const std::vector<Value>& parts, const Strategy& strategy, const Value& shapes,
                              const DeviceMesh& mesh, const Sizes& coordinate);

}  // namespace kerf::inline distributed::inline dtensor
