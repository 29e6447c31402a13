// Strategies that an op has from its decomposition: placements with which no step of it needs another one.
#include <algorithm>

#include "engine/distributed/dtensor/sharded_caller.h"
#include "engine/ops/core/composite.h"
#include "engine/ops/core/decomposition_tables.h"
#include "engine/ops/core/symbolic_checks.h"

namespace kerf::inline distributed::inline dtensor {

/// Looks where placements go; a call that needs another placement is an error.
class PlacementTracker : public ShardedCaller {
 public:
  PlacementTracker(const DeviceMesh& mesh, int depth) : ShardedCaller(mesh, depth) {}
  Tensor start(const Tensor& whole, const Placement& placement) const { return handle(whole, {placement}); }

 protected:
  void becameOther(const Tensor&, const Tensor&) const override {}
  bool hasParts() const override { return false; }
  Result<Tensor> placed(const Tensor& tensor, const Spec& from, const Placements& to) const override {
    if (from.placements == to) return handle(tensor, to);
    return fail(ErrorCode::UnsupportedOp, "a tensor needs another placement");
  }
  Result<Value> execute(const Dispatch& dispatch) const override {
    for (std::size_t i = 0; i < dispatch.operands.size(); ++i)
      if (dispatch.strategy.inputs[i] != dispatch.operands[i].spec.placements)
        return fail(ErrorCode::UnsupportedOp, "{} needs another placement", dispatch.args.opName());
    if (const Value* written = writtenArgument(dispatch.args)) return *written;
    return mapTensors(dispatch.shapes, [&](const Tensor& shape, std::size_t index) -> Result<Value> {
      return Value(handle(shape, outputOf(dispatch, index)));
    });
  }
  Result<Value> plain(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) const override {
    return inferShapes(op.id, args, kwargs);
  }
};

namespace {

constexpr int deepest = 3;
constexpr std::size_t mostCandidates = 400;

/// What an operand may be placed like: replicated, as some operand is, sharded where one is sharded at all.
std::vector<Placement> optionsOf(const ShardingCall& call, const ShardedOperand& operand) {
  std::vector<Placement> options{Placement::replicate()};
  const auto add = [&](const Placement& placement) {
    if (std::ranges::find(options, placement) == options.end()) options.push_back(placement);
  };
  for (const ShardedOperand& other : call.operands)
    for (const Placement& placement : other.spec.placements) {
      if (!placement.isShard()) add(placement);
      for (std::int64_t d = 0; placement.isShard() && d < operand.spec.dims(); ++d) add(placement.onDim(d));
    }
  return options;
}

/// The results' placements, then the candidate's; nothing where it does not work.
std::optional<OneDim> tried(const ShardingCall& call, Composite program, const OneDim& candidate,
                            const DeviceMesh& line, int depth) {
  const PlacementTracker tracker(line, depth + 1);
  std::vector<Value> parts;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    const Spec& spec = call.operands[i].spec;
    if (!isShardable({{candidate[i]}, spec.sizes, spec.dtype}, line)) return std::nullopt;
    const ShardedOperand& operand = call.operands[i];
    const Value& value = call.args.values[operand.argument];
    const Tensor& whole = operand.item < 0 ? value.tensor() : value.list()[std::size_t(operand.item)].tensor();
    parts.emplace_back(tracker.start(whole, candidate[i]));
  }
  BoundArguments bound = localArguments(call.args, call.operands, parts, {}, Value(), line, {0});
  const Result<Value> result = withoutThrowing([&] { return program(bound, OpRunner(tracker)); });
  if (!result) return std::nullopt;
  OneDim choice;
  std::size_t tensors = 0;
  const std::function<void(const Value&)> collect = [&](const Value& value) {
    if (value.isList()) {
      for (const Value& item : value.list()) collect(item);
      return;
    }
    tensors += value.isTensor() ? 1 : 0;
    const Spec* spec = value.isTensor() ? tracker.specOf(value.tensor()) : nullptr;
    choice.push_back(spec != nullptr ? spec->placements[0] : Placement::replicate());  // of None, too: results count so
  };
  collect(*result);
  if (tensors != call.outputs.size()) return std::nullopt;
  choice.insert(choice.end(), candidate.begin(), candidate.end());
  return choice;
}

}  // namespace

Composite shardingProgram(const OpInfo& op) {
  if (op.decomposition != nullptr) return op.decomposition;
  for (const DecompositionTable table : {DecompositionTable::Core, DecompositionTable::Inductor}) {
    const Replacement by = decomposesBy(table)(op);
    if (by.replaces && by.program != nullptr && by.applies == nullptr) return by.program;
  }
  return nullptr;
}

std::vector<OneDim> decomposedChoices(const ShardingCall& call, int depth) {
  const Composite program = shardingProgram(*call.args.op);
  if (program == nullptr || depth >= deepest || call.operands.empty() || call.outputs.empty()) return {};
  std::int64_t longest = 1;
  for (const std::int64_t size : call.mesh.sizes()) longest = std::max(longest, size);
  const auto line = DeviceMesh::ofSizes({longest});
  std::vector<std::vector<Placement>> options;
  std::size_t candidates = 1;
  for (const ShardedOperand& operand : call.operands) {
    options.push_back(optionsOf(call, operand));
    candidates *= options.back().size();
  }
  std::vector<OneDim> choices;
  for (std::size_t k = 0; k < std::min(candidates, mostCandidates); ++k) {
    OneDim candidate;
    std::size_t rest = k;
    for (const auto& option : options) {
      candidate.push_back(option[rest % option.size()]);
      rest /= option.size();
    }
    auto choice = tried(call, program, candidate, *line, depth);
    if (choice) choices.push_back(std::move(*choice));
  }
  return choices;
}

}  // namespace kerf::inline distributed::inline dtensor
