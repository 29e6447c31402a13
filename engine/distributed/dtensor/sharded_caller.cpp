#include "engine/distributed/dtensor/sharded_caller.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "engine/autograd/implicit_forms.h"
#include "engine/autograd/pure_forms.h"
#include "engine/ops/core/calls_without_row.h"
#include "engine/ops/core/composite.h"
#include "engine/ops/core/decomposition_tables.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/core/symbolic_checks.h"

namespace kerf::inline distributed::inline dtensor {
namespace {

/// Programs that PyTorch's dispatcher runs before DTensor sees the call.
bool isBrokenDown(const OpInfo& op) {
  static const Decomposes replaces = decomposesBy(DecompositionTable::None);
  return op.composite != nullptr && op.gradient == nullptr && replaces(op).replaces;
}

bool givesTensors(const OpInfo& op) {
  return std::ranges::any_of(op.schema.returns,
                             [](const std::string& type) { return type.find("Tensor") != std::string::npos; });
}

bool isElementwise(const OpInfo& op) {
  const OpInfo* base = findOp(op.base);
  return has(op.traits, OpTrait::Pointwise) || (base != nullptr && has(base->traits, OpTrait::Pointwise));
}

/// Whether every row of a result comes from the same row of the operand.
bool keepsRows(const OpInfo& op) {
  static const std::vector<OpId> same{"aten.clone.default"_op, "aten.contiguous.default"_op, "aten.detach.default"_op,
                                      "aten.alias.default"_op, "aten._to_copy.default"_op,   "aten.zero_.default"_op};
  return isElementwise(op) || std::ranges::find(same, op.id) != same.end();
}

/// Whether all operands that a strategy places under a mask are under it already, and stay as they are.
bool staysMasked(const ShardingCall& call, const Strategy& strategy, std::size_t meshDim, const Placement& mask) {
  if (!keepsRows(*call.args.op)) return false;
  for (std::size_t i = 0; i < strategy.inputs.size(); ++i)
    if (strategy.inputs[i][meshDim] == mask && strategy.inputs[i] != call.operands[i].spec.placements) return false;
  return true;
}

/// A mask fits the rows of its lookup: where rows move, other placements of the operand change, or another operand would
/// come under it, what is masked is reduced first.
void reduceMasks(const ShardingCall& call, Strategy& strategy) {
  for (const ShardedOperand& operand : call.operands)
    for (std::size_t d = 0; d < operand.spec.placements.size(); ++d) {
      const Placement& mask = operand.spec.placements[d];
      if (mask.kind != Placement::Kind::MaskPartial || staysMasked(call, strategy, d, mask)) continue;
      for (auto* const all : {&strategy.inputs, &strategy.outputs})
        for (Placements& placements : *all)
          if (d < placements.size() && placements[d] == mask) placements[d] = Placement::replicate();
    }
}

/// Gradients of means divide by the number of elements, which a part has not: the argument that says so.
std::optional<std::size_t> meanArgument(const BoundArguments& args) {
  if (!args.op->schema.name.ends_with("_backward")) return std::nullopt;
  for (std::size_t i = 0; i < args.values.size(); ++i) {
    const auto* kind = args.values[i].as<std::int64_t>();
    if (kind != nullptr && *kind == 1 && args.op->schema.arguments[i].name == "reduction") return i;
  }
  return std::nullopt;
}

/// What a call gives one by one, also what is no tensor: as ShardedCaller::mapTensors counts.
void appendFlat(const Value& value, std::vector<Value>& out) {
  if (!value.isList()) {
    out.push_back(value);
    return;
  }
  for (const Value& item : value.list()) appendFlat(item, out);
}

void collectTensors(const Value& value, std::vector<Tensor>& out) {
  if (value.isTensor()) out.push_back(value.tensor());
  if (value.isList())
    for (const Value& item : value.list()) collectTensors(item, out);
}

}  // namespace

const Spec* ShardedCaller::specOf(const Tensor& tensor) const {
  const bool known = tensor.traced >= 0 && tensor.traced < int(m_specs.size());
  if (!known || m_specs[std::size_t(tensor.traced)].placements.empty()) return nullptr;
  return &m_specs[std::size_t(tensor.traced)];
}

Tensor ShardedCaller::asLocal(const Tensor& tensor) const {
  Tensor known = tensor;
  known.traced = int(m_specs.size());
  m_specs.emplace_back();
  return known;
}

Tensor ShardedCaller::handle(const Tensor& shape, Placements placements) const {
  Tensor tensor = metaTensor(shape.dtype(), shape.sizes(), shape.strides());
  tensor.setDevice(shape.device());
  tensor.traced = int(m_specs.size());
  m_specs.push_back({std::move(placements), shape.sizes(), shape.dtype()});
  return tensor;
}

Result<Value> ShardedCaller::plain(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) const {
  KERF_TRY(const Value result, referenceOps().call(op.id, args, kwargs));
  return mapTensors(result, [](const Tensor& tensor, std::size_t) -> Result<Value> {
    Tensor same = tensor;
    same.traced = madeByProgram;
    return Value(std::move(same));
  });
}

Result<Value> ShardedCaller::call(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs) const {
  const OpInfo* op = findOp(target);
  if (op == nullptr || op->id == "operator.getitem"_op) {
    if (op != nullptr && !args.empty() && args[0].isList()) return referenceOps().call(op->id, args, kwargs);
    if (op != nullptr || callsWithoutRow().isPython(target.text))
      return callsWithoutRow().python(target.text, args, kwargs, *this);
    return fail(ErrorCode::UnsupportedOp, "no op {}", target.text);
  }
  return withoutThrowing([&] { return callRowOf(*op, args, kwargs); });
}

Result<Value> ShardedCaller::callRowOf(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) const {
  const bool isReshape = op.id == "aten.reshape.default"_op;
  if (isElementwise(op))
    if (const auto divided = dividedGradient(op, args, kwargs)) return *divided;
  if (const auto squeezed = squeezedByWhole(op, args)) {
    const bool writes = op.id == "aten.squeeze_.dim"_op;
    if (writes) return squeezed->empty() ? Result<Value>(args[0]) : dispatch(op, args, kwargs);
    if (squeezed->empty()) return dispatch(*findOp("aten.alias.default"_op), {args[0]}, {});
    return dispatch(*findOp("aten.squeeze.dims"_op), {args[0], intList(*squeezed)}, {});
  }
  const Composite form = implicitForm(op.id);
  if (!isReshape && form == nullptr && !isBrokenDown(op) && !isBrokenDownForTape(op, args, kwargs))
    return dispatch(op, args, kwargs);
  KERF_TRY(const BoundArguments bound, bindArguments(op, args, kwargs));
  if (isReshape) return reshape(bound);
  return form != nullptr ? form(bound, OpRunner(*this)) : op.composite(bound, OpRunner(*this));
}

/// The gradient of an element-wise loss's mean, where operands are placed: that of its sum, divided by how many elements
/// the whole has.
std::optional<Result<Value>> ShardedCaller::dividedGradient(const OpInfo& op, const ValueList& args,
                                                            const KeywordValues& kwargs) const {
  const auto bound = bindArguments(op, args, kwargs);
  const auto mean = bound ? meanArgument(*bound) : std::nullopt;
  if (!mean || findShardingRule(op.id) != nullptr) return std::nullopt;
  std::int64_t elements = 0;
  bool isPlaced = false;
  for (const Value& value : bound->values) {
    if (!value.isTensor()) continue;
    elements = std::max(elements, value.tensor().numel());
    const Spec* spec = specOf(value.tensor());
    isPlaced = isPlaced || (spec != nullptr && !spec->isReplicated());
  }
  if (!isPlaced || elements == 0) return std::nullopt;
  constexpr std::int64_t asSum = 2;
  ValueList summed = bound->values;
  summed[*mean] = Value(asSum);
  Result<Value> gradient = dispatch(op, summed, {});
  if (!gradient) return gradient;
  return call("aten.div.Scalar"_op, {*gradient, double(elements)}, {});
}

/// Programs over lists (_foreach_) have gradients call by call alone.
bool ShardedCaller::isBrokenDownForTape(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) const {
  if (m_tape == nullptr || op.composite == nullptr || op.gradient != nullptr || mayWrite(op)) return false;
  const bool givesList = op.schema.returns.size() == 1 && op.schema.returns[0].starts_with("Tensor[");
  return (givesList || gradientOf(op) == nullptr) && m_tape->tracksAny(args, kwargs);
}

/// The dimensions that squeeze takes from the whole tensor: a part may have size 1 where the whole has not. None for
/// other ops.
std::optional<Sizes> ShardedCaller::squeezedByWhole(const OpInfo& op, const ValueList& args) const {
  const bool isAll = op.id == "aten.squeeze.default"_op, writes = op.id == "aten.squeeze_.dim"_op;
  if (!isAll && !writes && op.id != "aten.squeeze.dim"_op && op.id != "aten.squeeze.dims"_op) return std::nullopt;
  if (args.empty() || !args[0].isTensor() || specOf(args[0].tensor()) == nullptr) return std::nullopt;
  const Tensor& whole = args[0].tensor();
  Sizes asked;
  for (std::int64_t d = 0; isAll && d < whole.dim(); ++d) asked.push_back(d);
  if (args.size() > 1 && args[1].as<std::int64_t>()) asked.push_back(*args[1].as<std::int64_t>());
  if (args.size() > 1 && args[1].isList())
    for (const Value& item : args[1].list())
      if (const auto* dim = item.as<std::int64_t>()) asked.push_back(*dim);
  Sizes dims;
  for (const std::int64_t dim : asked) {
    const std::int64_t d = dim < 0 ? dim + whole.dim() : dim;
    if (d >= 0 && d < whole.dim() && whole.size(d) == 1) dims.push_back(d);
  }
  return dims;
}

/// A view where strides allow it, else a copy.
Result<Value> ShardedCaller::reshape(const BoundArguments& bound) const {
  KERF_TRY(const Value shape, inferShapes("aten.reshape.default"_op, bound.values, {}));
  const SymSizes& sizes = shape.tensor().symSizes();
  if (viewStrides(bound.tensor(0), sizes)) return call("aten.view.default"_op, {bound.values[0], intList(sizes)}, {});
  KERF_TRY(const Value copy,
           call("aten.clone.default"_op, {bound.values[0]}, {{"memory_format", MemoryFormat::Contiguous}}));
  return call("aten._unsafe_view.default"_op, {copy, intList(sizes)}, {});
}

Result<std::vector<ShardedOperand>> ShardedCaller::operandsOf(const BoundArguments& bound,
                                                              std::vector<Tensor>& tensors) const {
  std::vector<ShardedOperand> operands;
  const auto add = [&](const Value& value, std::size_t argument, int item) -> Result<void> {
    if (!value.isTensor()) return {};
    const Tensor& tensor = value.tensor();
    const Spec* spec = specOf(tensor);
    if (spec == nullptr && tensor.numel() != 1 && tensor.traced != madeByProgram)
      return fail(ErrorCode::UnsupportedOp,
                  "{} got tensors with placements and one without (argument '{}'): distribute it first", bound.opName(),
                  bound.op->schema.arguments[argument].name);
    operands.push_back(
        {spec != nullptr ? *spec : Spec{Placements(m_mesh.dims()), tensor.sizes(), tensor.dtype()}, argument, item});
    tensors.push_back(tensor);
    return {};
  };
  for (std::size_t i = 0; i < bound.values.size(); ++i) {
    KERF_CHECK(add(bound.values[i], i, -1));
    if (!bound.values[i].isList()) continue;
    const ValueList& items = bound.values[i].list();
    for (std::size_t k = 0; k < items.size(); ++k) KERF_CHECK(add(items[k], i, int(k)));
  }
  return operands;
}

Result<ShardedCaller::Offer> ShardedCaller::offerOf(const ShardingCall& call) const {
  const OpInfo& op = *call.args.op;
  const auto offer = [](Result<Strategies> found, Composite program = nullptr) -> Result<Offer> {
    if (!found) return fail(std::move(found.error()));
    return Offer{std::move(*found), program};
  };
  if (const ShardingFunction rule = findShardingRule(op.id)) return offer(rule(call));
  if (meanArgument(call.args)) return offer(replicatedStrategies(call));
  if (isElementwise(op)) return offer(pointwiseStrategies(call));
  const std::vector<OneDim> choices = decomposedChoices(call, m_depth);
  if (!choices.empty())
    return offer(expandToMesh(call, choices, choices[0].size() - call.operands.size()), shardingProgram(op));
  const bool isWhole =
      std::ranges::all_of(call.operands, [](const ShardedOperand& o) { return o.spec.isReplicated(); });
  const bool shares = has(op.traits, OpTrait::View) || mayWrite(op);
  if (!isWhole && (shares || has(op.traits, OpTrait::Random)))
    return fail(ErrorCode::UnsupportedOp, "{} has no sharding rule", call.args.opName());
  return offer(replicatedStrategies(call));
}

/// Whether the op takes every rank's parts as it takes whole tensors, and gives parts of the results: sizes among its
/// arguments may be those of whole tensors.
bool ShardedCaller::runsOnParts(const Dispatch& dispatch) const {
  std::vector<Value> whole;
  appendFlat(dispatch.shapes, whole);
  std::set<std::vector<Sizes>> seen;
  for (int rank = 0; rank < m_mesh.ranks(); ++rank) {
    const Sizes coordinate = m_mesh.coordinate(rank);
    std::vector<Value> parts, results;
    std::vector<Sizes> sizes;
    for (std::size_t i = 0; i < dispatch.operands.size(); ++i) {
      const Spec& spec = dispatch.operands[i].spec;
      sizes.push_back(localSizes({dispatch.strategy.inputs[i], spec.sizes, spec.dtype}, m_mesh, coordinate));
      Tensor part = metaTensor(spec.dtype, sizes.back());
      part.setDevice(dispatch.tensors[i].device());
      parts.emplace_back(std::move(part));
    }
    if (!seen.insert(sizes).second) continue;
    const Result<Value> made = runShapeRule(localArguments(dispatch.args, dispatch.operands, parts, dispatch.strategy,
                                                           dispatch.shapes, m_mesh, coordinate));
    if (!made) return false;
    appendFlat(*made, results);
    if (results.size() != whole.size()) return false;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      if (whole[i].isTensor() != results[i].isTensor()) return false;
      if (!whole[i].isTensor()) continue;
      const Tensor& one = whole[i].tensor();
      const Sizes part = localSizes({outputOf(dispatch, i), one.sizes(), one.dtype()}, m_mesh, coordinate);
      if (results[i].tensor().sizes() != part) return false;
    }
  }
  return true;
}

/// The op as the program that its strategy comes from, step by step on parts: what its arguments say of whole tensors
/// holds for the steps, which know the whole sizes.
Result<Value> ShardedCaller::executeProgram(const Dispatch& dispatch, Composite program) const {
  std::vector<Value> operands;
  for (std::size_t i = 0; i < dispatch.operands.size(); ++i) {
    const Tensor& tensor = dispatch.tensors[i];
    const Spec& from = dispatch.operands[i].spec;
    const Placements& to = dispatch.strategy.inputs[i];
    if (specOf(tensor) != nullptr && from.placements == to) {
      operands.emplace_back(tensor);
      continue;
    }
    KERF_TRY(Tensor now, placed(tensor, from, to));
    operands.emplace_back(std::move(now));
  }
  const BoundArguments bound =
      localArguments(dispatch.args, dispatch.operands, operands, dispatch.strategy, Value(), m_mesh, {});
  Tape* const noted = std::exchange(m_tape, nullptr);  // the op as a whole is what the tape knows
  const std::size_t before = m_dispatched.size();
  const Result<Value> result = withoutThrowing([&] { return program(bound, OpRunner(*this)); });
  m_tape = noted;
  m_dispatched.resize(before);
  if (!result) return result;
  if (const Value* written = writtenArgument(dispatch.args)) return *written;
  return mapTensors(*result, [&](const Tensor& tensor, std::size_t) -> Result<Value> {
    if (specOf(tensor) != nullptr) return Value(tensor);
    const Placements whole(m_mesh.dims());
    KERF_TRY(Tensor known, placed(tensor, {whole, tensor.sizes(), tensor.dtype()}, whole));
    return Value(std::move(known));
  });
}

/// Calls on tensors of this rank alone, on the tape where they are differentiated.
Result<Value> ShardedCaller::plainNoted(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) const {
  KERF_TRY(const Value result, plain(op, args, kwargs));
  if (m_tape == nullptr || !m_tape->tracksAny(args, kwargs) || mayWrite(op)) return result;
  KERF_TRY(Value known, mapTensors(result, [&](const Tensor& tensor, std::size_t) -> Result<Value> {
             return Value(asLocal(tensor));
           }));
  KERF_CHECK(m_tape->record(op, args, kwargs, known, {}));
  return known;
}

Result<Value> ShardedCaller::dispatch(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) const {
  KERF_TRY(const BoundArguments bound, bindArguments(op, args, kwargs));
  std::vector<Tensor> given;
  for (const Value& value : bound.values) collectTensors(value, given);
  if (std::ranges::none_of(given, [&](const Tensor& tensor) { return specOf(tensor) != nullptr; }))
    return plainNoted(op, args, kwargs);
  std::vector<Tensor> tensors;
  KERF_TRY(const std::vector<ShardedOperand> operands, operandsOf(bound, tensors));
  Value shapes;
  if (givesTensors(op)) {
    KERF_TRY(shapes, runShapeRule(bound));
  }
  std::vector<Tensor> outputs;
  collectTensors(shapes, outputs);
  m_dispatched.push_back(op.schema.qualifiedName());
  const ShardingCall call{bound, m_mesh, operands, outputs};
  KERF_TRY(Offer offer, offerOf(call));
  for (Strategy& one : offer.strategies) reduceMasks(call, one);
  const Strategy strategy = cheapest(call, offer.strategies);
  KERF_CHECK(checkWrites(bound, operands, tensors, strategy));
  const int before = handles();
  const Dispatch chosen{bound, operands, tensors, strategy, shapes, call, offer.strategies};
  const bool isBySteps = offer.program != nullptr && hasParts() && !runsOnParts(chosen);
  KERF_TRY(Value result, isBySteps ? executeProgram(chosen, offer.program) : execute(chosen));
  noteCopies(op, operands, tensors, strategy, before);
  if (op.id == "aten.squeeze_.dim"_op && result.isTensor()) {
    m_specs[std::size_t(tensors[0].traced)] = *specOf(result.tensor());
    becameOther(tensors[0], result.tensor());
  }
  if (m_tape != nullptr && m_tape->tracksAny(args, kwargs)) KERF_CHECK(m_tape->record(op, args, kwargs, result, {}));
  return result;
}

/// What is written must keep its placement, and must be what the caller thinks that it is: not a copy that a view became
/// because its shards had to be gathered.
Result<void> ShardedCaller::checkWrites(const BoundArguments& bound, const std::vector<ShardedOperand>& operands,
                                        const std::vector<Tensor>& tensors, const Strategy& strategy) const {
  if (bound.op->id == "aten.squeeze_.dim"_op) return {};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!bound.op->schema.arguments[operands[i].argument].alias.ends_with('!')) continue;
    if (m_copies.contains(tensors[i].traced))
      return fail(ErrorCode::UnsupportedOp, "{} would write into a copy: the view needed another placement",
                  bound.opName());
    const Placements& now = operands[i].spec.placements;
    const bool isResult = bound.op->schema.returns.size() == 1 && !strategy.outputs.empty();
    const Placements& then = isResult && operands[i].item < 0 ? strategy.outputs[0] : strategy.inputs[i];
    if (now != then || now != strategy.inputs[i])
      return fail(ErrorCode::UnsupportedOp, "{} would change the placement of what it writes from {} to {}",
                  bound.opName(), placementsText(now), placementsText(then));
  }
  return {};
}

void ShardedCaller::noteCopies(const OpInfo& op, const std::vector<ShardedOperand>& operands,
                               const std::vector<Tensor>& tensors, const Strategy& strategy, int from) const {
  if (!has(op.traits, OpTrait::View) || operands.empty()) return;
  if (strategy.inputs[0] == operands[0].spec.placements && !m_copies.contains(tensors[0].traced)) return;
  for (int made = from; made < handles(); ++made) m_copies.insert(made);
}

const Placements& ShardedCaller::outputOf(const Dispatch& dispatch, std::size_t index) {
  const auto& outputs = dispatch.strategy.outputs;
  return outputs[std::min(index, outputs.size() - 1)];
}

Result<Value> ShardedCaller::mapTensors(const Value& shapes,
                                        const std::function<Result<Value>(const Tensor&, std::size_t)>& make) {
  std::size_t index = 0;
  const std::function<Result<Value>(const Value&)> map = [&](const Value& value) -> Result<Value> {
    if (value.isTensor()) return make(value.tensor(), index++);
    if (!value.isList()) {
      ++index;
      return value;
    }
    ValueList items;
    for (const Value& item : value.list()) {
      KERF_TRY(Value made, map(item));
      items.push_back(std::move(made));
    }
    return Value(std::move(items));
  };
  return map(shapes);
}

const Value* ShardedCaller::writtenArgument(const BoundArguments& args) {
  const auto& arguments = args.op->schema.arguments;
  const auto& returns = args.op->schema.returns;
  if (!returns.empty() && returns[0].find('!') == std::string::npos) return nullptr;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].alias.ends_with('!')) return &args.values[i];
  return nullptr;
}

BoundArguments localArguments(const BoundArguments& args, const std::vector<ShardedOperand>& operands,
                              const std::vector<Value>& parts, const Strategy& strategy, const Value& shapes,
                              const DeviceMesh& mesh, const Sizes& coordinate) {
  BoundArguments local{args.op, args.values};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    Value& value = local.values[operands[i].argument];
    if (operands[i].item < 0) {
      value = parts[i];
      continue;
    }
    ValueList items = value.list();
    items[std::size_t(operands[i].item)] = parts[i];
    value = Value(std::move(items));
  }
  static const std::vector<OpId> withSizes{
      "aten.new_empty.default"_op,      "aten.new_full.default"_op,         "aten.new_ones.default"_op,
      "aten.new_zeros.default"_op,      "aten.expand.default"_op,           "aten.reshape.default"_op,
      "aten.view.default"_op,           "aten._unsafe_view.default"_op,     "aten.select_backward.default"_op,
      "aten.slice_backward.default"_op, "aten.new_empty_strided.default"_op};
  if (!shapes.isTensor() || std::ranges::find(withSizes, args.op->id) == withSizes.end()) return local;
  const Tensor& whole = shapes.tensor();
  const Sizes sizes = localSizes({strategy.outputs[0], whole.sizes(), whole.dtype()}, mesh, coordinate);
  local.values[1] = intList(sizes);
  if (args.op->id == "aten.new_empty_strided.default"_op) local.values[2] = intList(contiguousStrides(sizes));
  return local;
}

}  // namespace kerf::inline distributed::inline dtensor
