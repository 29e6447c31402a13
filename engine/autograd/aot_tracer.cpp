#include "engine/autograd/aot_tracer.h"

#include <algorithm>

#include "engine/autograd/implicit_forms.h"
#include "engine/autograd/pure_forms.h"
#include "engine/autograd/restored_setting.h"
#include "engine/autograd/view_inverses.h"
#include "engine/autograd/written_call.h"
#include "engine/ir/value_meta.h"
#include "engine/ops/core/decomposition_tables.h"
#include "engine/ops/core/memory_use.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/core/symbolic_checks.h"
#include "engine/ops/core/written_operands.h"

namespace kerf::inline autograd {
namespace {

bool isFormOfWriting(const OpInfo& op) {
  const OpInfo* base = findOp(op.base);
  return base != nullptr && !mayWrite(op) && mayWrite(*base);
}

/// Programs are written out, but for ops that PyTorch differentiates as they are, and for kernels of their own to it:
/// emit() writes those out where a gradient is asked of them.
Replacement isWrittenOut(const OpInfo& op) {
  static const Decomposes replaces = decomposesBy(DecompositionTable::None);
  if (!isComposite(op) || op.gradient != nullptr || isFormOfWriting(op)) return false;
  return replaces(op);
}

constexpr std::string_view gradModeCalls[] = {"torch._C._set_grad_enabled", "torch.set_grad_enabled",
                                              "torch.autograd.grad_mode.set_grad_enabled"};

/// Which argument the results of a view look at; none for other ops.
std::optional<std::size_t> viewedArgument(const OpInfo& op) {
  if (!has(op.traits, OpTrait::View)) return {};
  for (std::size_t i = 0; i < op.schema.arguments.size(); ++i)
    if (sharesMemory(op, i)) return i;
  return {};
}

template <class Map>
Result<ValueList> mapped(const ValueList& values, const Map& map) {
  ValueList result;
  result.reserve(values.size());
  for (const Value& value : values) {
    KERF_TRY(Value item, map(value));
    result.push_back(std::move(item));
  }
  return result;
}

template <class Map>
Result<KeywordValues> mapped(const KeywordValues& values, const Map& map) {
  KeywordValues result;
  for (const auto& [key, value] : values) {
    KERF_TRY(Value item, map(value));
    result.emplace_back(key, std::move(item));
  }
  return result;
}

/// Where a node comes from, with another value: that of the original may be a list as long as the graph.
NodeMeta originOf(const NodeMeta& meta, const ValueMeta& value) {
  return {.value = value,
          .sourceFile = meta.sourceFile,
          .sourceLine = meta.sourceLine,
          .stackTrace = meta.stackTrace,
          .modulePath = meta.modulePath,
          .fromNodes = meta.fromNodes,
          .typeText = meta.typeText,
          .annotation = meta.annotation,
          .description = meta.description,
          .extra = meta.extra};
}

}  // namespace

AotTracer::AotTracer(GraphModule& module, AotLayers layers)
    : OpTracer(module, isWrittenOut), m_layers(layers), m_aliases(*this), m_levels(*this) {}

/// The functional form of an op that writes (_native_batch_norm_legit_functional): its program calls that op.
bool AotTracer::isFunctionalForm(const OpInfo& op) { return isFormOfWriting(op); }

Value AotTracer::refreshed(const Value& value) const {
  if (value.isTensor() && m_aliases.isRestrided(value.tensor())) {
    auto now = m_aliases.current(value.tensor());
    if (!now) return value;  // using it says why
    Tensor handle = *now;
    handle.traced = value.tensor().traced;
    return handle;
  }
  if (!value.isList() || !m_aliases.anyRestrided()) return value;
  ValueList items;
  for (const Value& item : value.list()) items.push_back(refreshed(item));
  return items;
}

Result<Value> AotTracer::call(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs) const {
  if (std::ranges::find(gradModeCalls, target.text) != std::end(gradModeCalls)) {
    const bool* enabled = args.empty() ? nullptr : args[0].as<bool>();
    if (enabled != nullptr) m_gradMode = *enabled;
    return Value();
  }
  const auto refresh = [&](const Value& value) -> Result<Value> { return refreshed(value); };
  KERF_TRY(const ValueList now, mapped(args, refresh));
  KERF_TRY(const KeywordValues nowKeywords, mapped(kwargs, refresh));
  return OpTracer::call(target, now, nowKeywords);
}

bool AotTracer::shareMemory(const Tensor& a, const Tensor& b) const {
  return m_aliases.memoryOf(a) == m_aliases.memoryOf(b);
}

Result<Value> AotTracer::current(const Value& value) const {
  if (value.isTensor()) {
    if (!m_layers.functionalizes || value.tensor().traced < 0) return value;
    KERF_TRY(Tensor now, m_aliases.current(value.tensor()));
    return Value(std::move(now));
  }
  if (!value.isList()) return value;
  KERF_TRY(ValueList items, mapped(value.list(), [&](const Value& item) { return current(item); }));
  return Value(std::move(items));
}

Result<Value> AotTracer::asHandle(const Value& value) const {
  if (value.isList()) {
    KERF_TRY(ValueList items, mapped(value.list(), [&](const Value& item) { return asHandle(item); }));
    return Value(std::move(items));
  }
  if (!value.isTensor() || value.tensor().traced < 0) return value;
  KERF_TRY(const Tensor now, m_aliases.current(value.tensor()));
  if (now.traced == value.tensor().traced) return value;
  Tensor handle = sameValue(value.tensor());
  m_tape.sameValue(handle, value.tensor());
  return handle;
}

// Views and writes

Result<Value> AotTracer::record(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) const {
  if (op.id == "aten.reshape.default"_op && kwargs.empty()) return reshape(args);
  if (const Composite form = implicitForm(op.id)) {
    KERF_TRY(const BoundArguments bound, bindArguments(op, args, kwargs));
    return form(bound, OpRunner(*this));
  }
  if (m_isPure) return emit(op, args, kwargs);
  if (!m_layers.functionalizes) {
    if (!mayWrite(op)) return emit(op, args, kwargs);
    KERF_TRY(Value result, emit(op, args, kwargs));
    if (!result.isTensor() || op.base == OpId{} || args.empty() || !args[0].isTensor()) return result;
    const OpInfo* pure = findOp(op.base);
    if (pure != nullptr && has(pure->traits, OpTrait::View)) m_aliases.restride(args[0].tensor(), {}, result.tensor());
    return result;
  }
  if (mayWrite(op)) {
    KERF_TRY(const BoundArguments bound, bindArguments(op, args, kwargs));
    return write(bound, args);
  }
  const auto now = [&](const Value& value) { return current(value); };
  KERF_TRY(const ValueList values, mapped(args, now));
  KERF_TRY(const KeywordValues keywords, mapped(kwargs, now));
  KERF_TRY(Value result, emit(op, values, keywords));
  const auto viewed = viewedArgument(op);
  if (!viewed) return result;
  KERF_TRY(const BoundArguments bound, bindArguments(op, args, kwargs));
  if (!bound.values[*viewed].isTensor()) return result;
  const Tensor& of = bound.tensor(*viewed);
  if (result.isTensor()) m_aliases.addView(of, {&op, bound.values, *viewed}, result.tensor());
  for (std::size_t i = 0; result.isList() && i < result.list().size(); ++i)
    m_aliases.addView(of, {&op, bound.values, *viewed, int(i)}, result.list()[i].tensor());
  return result;
}

/// A view where strides allow it, else a copy, as PyTorch's composite does.
Result<Value> AotTracer::reshape(const ValueList& args) const {
  KERF_TRY(const BoundArguments bound, bindArguments(*findOp("aten.reshape.default"_op), args, {}));
  KERF_TRY(const Value now, current(bound.values[0]));
  KERF_TRY(const Value shape, inferShapes("aten.reshape.default"_op, {now, bound.values[1]}, {}));
  const SymSizes& sizes = shape.tensor().symSizes();
  if (viewStrides(now.tensor(), sizes)) return call("aten.view.default"_op, {args[0], intList(sizes)}, {});
  KERF_TRY(const Value copy, call("aten.clone.default"_op, {args[0]}, {{"memory_format", MemoryFormat::Contiguous}}));
  return call("aten._unsafe_view.default"_op, {copy, intList(sizes)}, {});
}

Result<Tensor> AotTracer::view(const ViewStep& step, const Tensor& base) const {
  ValueList args = step.arguments;
  args[step.viewed] = base;
  KERF_TRY(const Value result, emitBound({step.op, std::move(args)}));
  if (result.isTensor()) return result.tensor();
  return result.list()[std::size_t(step.item)].tensor();
}

Result<Tensor> AotTracer::unview(const ViewStep& step, const Tensor& base, const Tensor& view) const {
  const RestoredSetting pure(m_isPure, true);
  return writeThrough(step, base, view, OpRunner(*this));
}

/// `value` as what is left in the memory of `target`: of its dtype and sizes.
Result<Tensor> AotTracer::stored(const Tensor& value, const Tensor& target) const {
  const RestoredSetting pure(m_isPure, true);
  const OpRunner run(*this);
  CompositeSteps s(run);
  Tensor result = value;
  if (value.dtype() != target.dtype() || value.device() != target.device())
    result = s("aten._to_copy.default"_op, {value}, {{"dtype", target.dtype()}});
  if (!result.symSizes().isIdentical(target.symSizes()))
    result = s("aten.expand.default"_op, {result, intList(target.symSizes())});
  KERF_CHECK(s.done({}));
  return result;
}

Result<Value> AotTracer::write(const BoundArguments& call, const ValueList& given) const {
  if (call.op->id == "aten.copy_.default"_op) return copyInto(call);
  KERF_TRY(PureForm form, pureFormOf(call));
  if (form.results.empty())  // numbers stay numbers, which binding may have made tensors
    for (std::size_t i = 0; i < std::min(given.size(), form.arguments.size()); ++i)
      if (!given[i].isTensor() && form.arguments[i].isTensor()) form.arguments[i] = given[i];
  const auto now = [&](const Value& value) { return current(value); };
  KERF_TRY(form.arguments, mapped(form.arguments, now));
  if (form.restrides) {
    KERF_TRY(const Value result, emitBound({form.op, form.arguments}));
    m_aliases.restride(call.tensor(0), {form.op, form.arguments, 0}, result.tensor());
    return refreshed(call.values[0]);
  }
  KERF_TRY(form.arguments, mapped(form.arguments, [&](const Value& value) { return asHandle(value); }));
  const AutocastCall pure = asWritten({form.op, form.arguments});
  KERF_TRY(const Value result, OpTracer::call(form.op->id, pure.args, pure.kwargs));
  const ValueList results = result.isList() && form.op->schema.returns.size() > 1 ? result.list() : ValueList{result};
  for (const PureForm::Write& written : form.writes) {
    KERF_TRY(const Value value, current(results[written.result]));
    KERF_TRY(const Tensor left, stored(value.tensor(), call.tensor(written.argument)));
    KERF_CHECK(m_levels.checkWrite(call.tensor(written.argument), left));
    KERF_CHECK(m_aliases.write(call.tensor(written.argument), left));
  }
  if (form.results.empty()) return refreshed(call.values[0]);
  ValueList kept;
  for (std::size_t i = 0; i < std::min(form.results.size(), call.op->schema.returns.size()); ++i)
    kept.push_back(results[form.results[i]]);
  return Value(std::move(kept));
}

/// copy_(self, src): self holds src, in its own dtype and sizes.
Result<Value> AotTracer::copyInto(const BoundArguments& call) const {
  KERF_TRY(const Value source, current(call.values[1]));
  KERF_TRY(const Tensor left, stored(source.tensor(), call.tensor(0)));
  KERF_CHECK(m_levels.checkWrite(call.tensor(0), left));
  KERF_CHECK(m_aliases.write(call.tensor(0), left));
  return refreshed(call.values[0]);
}

// Nodes

Result<Value> AotTracer::decomposeHandles(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) const {
  KERF_TRY(const ValueList handles, mapped(args, [&](const Value& value) { return asHandle(value); }));
  return decompose(op, handles, kwargs);
}

Result<Value> AotTracer::emit(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) const {
  if (m_levels.isInside()) return m_levels.emit(op, args, kwargs);
  const bool tracked = recordsGradients() && m_tape.tracksAny(args, kwargs);
  const bool unknown = tracked && gradientOf(op) == nullptr && !isFunctionalForm(op);
  if (unknown && op.decomposition != nullptr && !m_isPure) return decomposeHandles(op, args, kwargs);
  const std::size_t before = module().graph.size();
  KERF_TRY(Value result, OpTracer::record(op, args, kwargs));
  const std::size_t made = module().graph.size();
  if (result.isList()) KERF_CHECK(argumentOf(result));  // a getitem for each, as PyTorch's proxies make them
  describeNodes(before);
  if (!tracked || made == before) return result;
  KERF_CHECK(m_tape.record(op, args, kwargs, result, module().graph.order()[made - 1]));
  return result;
}

Result<Value> AotTracer::emitBound(const BoundArguments& call) const {
  const AutocastCall written = asWritten(call);
  return emit(*call.op, written.args, written.kwargs);
}

void AotTracer::describeNodes(std::size_t from) const {
  Graph& graph = module().graph;
  for (std::size_t i = from; i < graph.size(); ++i) {
    const NodeId id = graph.order()[i];
    const NodeMeta& own = graph.node(id).meta();
    NodeMeta meta = originOf(m_source            ? m_source->meta()
                             : m_forward.valid() ? graph.node(m_forward).meta()
                                                 : own,
                             own.value);
    if (m_source != nullptr) meta.fromNodes = {m_source->name()};
    if (m_forward.valid()) {
      meta.extra.emplace_back("partitioner_tag", "is_backward");
      meta.extra.emplace_back("fwd_node", graph.node(m_forward).name());
    } else if (m_checkpoints > 0) {
      meta.extra.emplace_back("recompute", "PREFER_RECOMPUTE");
    }
    graph.setMeta(id, std::move(meta));
  }
}

Value AotTracer::addCall(NodeId node, const ValueMeta& meta, const ValueList& inputs, Tape::Backward backward) const {
  module().graph.setValueMeta(node, meta);
  const auto shape = valueOf(meta);
  const Value value = tag(shape ? *shape : Value(), node);
  if (!backward || !recordsGradients() || !m_tape.tracksAny(inputs, {})) return value;
  m_tape.recordCustom(inputs, value.isList() ? value.list() : ValueList{value}, node, std::move(backward));
  return value;
}

Result<Value> AotTracer::constant(std::string_view path, const Tensor& tensor) const {
  std::string name(path);
  for (int i = 0; module().attribute(name) != nullptr; ++i) name = fmt::format("{}_{}", path, i);
  module().attributes.add(name, TensorAttribute{tensor});
  const std::size_t before = module().graph.size();
  const NodeId node = module().graph.getAttr(name);
  module().graph.setValueMeta(node, {metaOf(tensor)});
  describeNodes(before);
  Tensor shape = metaTensor(tensor.dtype(), tensor.symSizes(), tensor.symStrides());
  shape.setDevice(tensor.device());
  return tag(Value(std::move(shape)), node);
}

void AotTracer::beginBackward() {
  m_aliases.forget();
  m_gradMode = false;
  m_source = nullptr;
}

}  // namespace kerf::inline autograd
