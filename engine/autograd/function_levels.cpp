#include "engine/autograd/function_levels.h"

#include <algorithm>

#include "engine/autograd/aot_tracer.h"
#include "engine/autograd/restored_setting.h"

namespace kerf::inline autograd {
namespace {

bool holdsTensor(const Value& value) {
  return value.isTensor() || (value.isList() && std::ranges::any_of(value.list(), holdsTensor));
}

std::string_view lastName(std::string_view target) { return target.substr(target.rfind('.') + 1); }

}  // namespace

Value FunctionLevels::argumentOf(const ValueList& args, const KeywordValues& kwargs, std::size_t at,
                                 std::string_view key) {
  if (at < args.size()) return args[at];
  for (const auto& [name, value] : kwargs)
    if (name == key) return value;
  return {};
}

const FunctionLevels::Row FunctionLevels::rows[] = {
    {"_vmap_increment_nesting", &FunctionLevels::openBatch},
    {"_vmap_decrement_nesting", &FunctionLevels::closeBatch},
    {"_grad_increment_nesting", &FunctionLevels::openGradient},
    {"_grad_decrement_nesting", &FunctionLevels::close},
    {"_jvp_increment_nesting", &FunctionLevels::openTangent},
    {"_jvp_decrement_nesting", &FunctionLevels::close},
    {"_add_batch_dim", &FunctionLevels::addBatchDim},
    {"_remove_batch_dim", &FunctionLevels::removeBatchDim},
    {"_wrap_for_grad", &FunctionLevels::wrap},
    {"_unwrap_for_grad", &FunctionLevels::unwrap},
    {"_set_tensor_requires_grad", &FunctionLevels::requireGradient},
    {"_autograd_grad", &FunctionLevels::gradient},
    {"_make_dual", &FunctionLevels::makeDual},
    {"_unpack_dual", &FunctionLevels::unpackDual},
    {"set_inplace_requires_grad_allowed", &FunctionLevels::none},
    {"_set_fwd_grad_enabled", &FunctionLevels::none},
    {"_enter_dual_level", &FunctionLevels::none},
    {"_exit_dual_level", &FunctionLevels::none},
    {"_maybe_load_decompositions", &FunctionLevels::none},
    {"lazy_load_decompositions", &FunctionLevels::none},
    {"_jvp_treespec_compare", &FunctionLevels::none},
    {"_vjp_treespec_compare", &FunctionLevels::none},
    {"_linearize_treespec_compare", &FunctionLevels::none},
};

std::optional<Result<Value>> FunctionLevels::call(std::string_view target, const ValueList& args,
                                                  const KeywordValues& kwargs) {
  if (!target.starts_with("torch.") || target.starts_with("torch.ops.")) return {};
  const auto* row = std::ranges::find(rows, lastName(target), &Row::name);
  if (row == std::end(rows)) return {};
  return (this->*row->run)(args, kwargs);
}

// Levels

Result<std::size_t> FunctionLevels::levelNamed(const ValueList& args, std::size_t at, Kind kind) const {
  const auto* level = at < args.size() ? args[at].as<std::int64_t>() : nullptr;
  if (level == nullptr || *level < 1 || *level > std::int64_t(m_levels.size()))
    return fail(ErrorCode::BadInput, "torch.func: there is no level {}; {} are open", level ? *level : 0,
                m_levels.size());
  const bool isBatch = m_levels[std::size_t(*level - 1)].kind == Kind::Batch;
  if (isBatch != (kind == Kind::Batch))
    return fail(ErrorCode::BadInput, "torch.func: level {} is {}one of vmap", *level, isBatch ? "" : "not ");
  return std::size_t(*level);
}

FunctionLevels::Level* FunctionLevels::innermost(Kind kind) {
  for (auto level = m_levels.rbegin(); level != m_levels.rend(); ++level)
    if (level->kind == kind) return &*level;
  return nullptr;
}

Result<Value> FunctionLevels::openBatch(const ValueList& args, const KeywordValues& kwargs) {
  const auto size = argumentOf(args, kwargs, 0, "batch_size").asSymInt();
  const Value randomness = argumentOf(args, kwargs, 1, "randomness");
  if (!size || !randomness.as<std::string>())
    return fail(ErrorCode::BadInput, "_vmap_increment_nesting takes a size and a text");
  m_levels.push_back({.kind = Kind::Batch,
                      .tape = {},
                      .size = *size,
                      .randomness = *randomness.as<std::string>(),
                      .added = {},
                      .duals = {}});
  m_depth = m_levels.size();
  return Value(std::int64_t(m_depth));
}

Result<Value> FunctionLevels::openGradient(const ValueList&, const KeywordValues&) {
  m_levels.push_back({.tape = std::make_shared<Tape>(), .size = {}, .randomness = {}, .added = {}, .duals = {}});
  m_levels.back().gradModeBefore = m_tracer.m_gradMode;
  m_tracer.m_gradMode = true;
  m_tapes.push_back(m_levels.back().tape);
  m_depth = m_levels.size();
  return Value(std::int64_t(m_depth));
}

Result<Value> FunctionLevels::openTangent(const ValueList& args, const KeywordValues& kwargs) {
  KERF_TRY(Value level, openGradient(args, kwargs));
  m_levels.back().kind = Kind::Tangent;
  return level;
}

Result<Value> FunctionLevels::close(const ValueList&, const KeywordValues&) {
  if (m_levels.empty() || m_levels.back().kind == Kind::Batch)
    return fail(ErrorCode::BadInput, "torch.func: a level is closed that is not the innermost one");
  m_tracer.m_gradMode = m_levels.back().gradModeBefore;
  m_levels.pop_back();
  m_depth = m_levels.size();
  return Value();
}

Result<Value> FunctionLevels::emit(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) {
  Level& level = m_levels[m_depth - 1];
  return level.kind == Kind::Batch ? batched(op, args, kwargs) : taped(level, op, args, kwargs);
}

// Gradients

Result<Value> FunctionLevels::taped(Level& level, const OpInfo& op, const ValueList& args,
                                    const KeywordValues& kwargs) {
  const std::shared_ptr<Tape> tape = level.tape;
  const bool tracked = m_tracer.m_gradMode && tape->tracksAny(args, kwargs);
  if (tracked && gradientOf(op) == nullptr && op.decomposition != nullptr && !AotTracer::isFunctionalForm(op))
    return m_tracer.decomposeHandles(op, args, kwargs);
  Result<Value> result = [&] {
    const RestoredSetting below(m_depth, m_depth - 1);
    return m_tracer.emit(op, args, kwargs);
  }();
  if (result && tracked && holdsTensor(*result)) KERF_CHECK(tape->record(op, args, kwargs, *result, {}));
  return result;
}

Result<Value> FunctionLevels::wrap(const ValueList& args, const KeywordValues& kwargs) {
  KERF_TRY(const std::size_t level, levelNamed({argumentOf(args, kwargs, 1, "level")}, 0, Kind::Gradient));
  const Value given = argumentOf(args, kwargs, 0, "x");
  if (!given.isTensor()) return given;
  const RestoredSetting below(m_depth, level - 1);
  return m_tracer.call("torch.ops.aten.alias.default", {given}, {});
}

Result<Value> FunctionLevels::unwrap(const ValueList& args, const KeywordValues& kwargs) {
  return argumentOf(args, kwargs, 0, "x");
}

Result<Value> FunctionLevels::requireGradient(const ValueList& args, const KeywordValues& kwargs) {
  const Value given = argumentOf(args, kwargs, 0, "x");
  Level* level = innermost(Kind::Gradient);
  if (level == nullptr || !given.isTensor())
    return fail(ErrorCode::BadInput, "_set_tensor_requires_grad takes a tensor, inside a level of grad");
  level->tape->addLeaf(given.tensor());
  return given;
}

Result<Value> FunctionLevels::gradient(const ValueList& args, const KeywordValues& kwargs) {
  const Value outputs = argumentOf(args, kwargs, 0, "outputs"), inputs = argumentOf(args, kwargs, 1, "inputs");
  const Value given = argumentOf(args, kwargs, 2, "grad_outputs");
  if (!outputs.isList() || !inputs.isList())
    return fail(ErrorCode::BadInput, "_autograd_grad takes a list of outputs and one of inputs");
  KERF_TRY(const Value now, m_tracer.current(outputs));
  const auto tape = std::find_if(m_tapes.rbegin(), m_tapes.rend(), [&](const std::shared_ptr<Tape>& candidate) {
    return candidate->tracksAny(now) && candidate->tracksAny(inputs);
  });
  const OpRunner run(m_tracer);
  static const ValueNames none;
  Gradients gradients(tape == m_tapes.rend() ? none : (*tape)->names());
  for (std::size_t i = 0; tape != m_tapes.rend() && i < now.list().size(); ++i) {
    const Value& output = now.list()[i];
    if (!output.isTensor() || !(*tape)->tracks(output.tensor())) continue;
    Value seed;
    if (given.isList() && i < given.list().size()) {
      KERF_TRY(seed, m_tracer.current(given.list()[i]));
    } else {
      KERF_TRY(seed, run.value("aten.ones_like.default"_op, {output}));
    }
    KERF_CHECK(gradients.add(output.tensor(), seed, run));
  }
  if (tape != m_tapes.rend()) KERF_CHECK((*tape)->walkBack(gradients, run, [](NodeId) {}));
  ValueList results;
  for (const Value& input : inputs.list()) {
    Value result = input.isTensor() ? gradients.of(input.tensor()) : Value();
    if (result.isNone() && input.isTensor()) {
      KERF_TRY(result, run.value("aten.zeros_like.default"_op, {input}));
    }
    results.push_back(std::move(result));
  }
  return Value(std::move(results));
}

// Tangents

Result<Value> FunctionLevels::makeDual(const ValueList& args, const KeywordValues& kwargs) {
  Level* level = innermost(Kind::Tangent);
  const Value primal = argumentOf(args, kwargs, 0, "tensor"), tangent = argumentOf(args, kwargs, 1, "tangent");
  if (level == nullptr || !primal.isTensor() || !tangent.isTensor())
    return fail(ErrorCode::BadInput, "_make_dual takes two tensors, inside a level of jvp");
  KERF_TRY(const Value known, m_tracer.current(tangent));
  const auto index =
      std::size_t(std::ranges::find(m_levels, level, [](Level& one) { return &one; }) - m_levels.begin());
  const RestoredSetting below(m_depth, index);
  KERF_TRY(const Value dual, m_tracer.call("torch.ops.aten.alias.default", {primal}, {}));
  level->tape->addLeaf(dual.tensor());
  level->duals.emplace_back(dual.tensor(), known);
  return dual;
}

Result<Value> FunctionLevels::unpackDual(const ValueList& args, const KeywordValues& kwargs) {
  Level* level = innermost(Kind::Tangent);
  KERF_TRY(const Value dual, m_tracer.current(argumentOf(args, kwargs, 0, "dual")));
  if (level == nullptr || !dual.isTensor())
    return fail(ErrorCode::BadInput, "_unpack_dual takes a tensor, inside a level of jvp");
  KERF_TRY(Value tangent, tangentOf(*level, dual.tensor()));
  return Value(ValueList{dual, std::move(tangent)});
}

Result<Value> FunctionLevels::tangentOf(Level& level, const Tensor& output) {
  const std::shared_ptr<Tape> tape = level.tape;
  if (!tape->tracks(output)) return Value();
  const OpRunner run(m_tracer);
  Gradients tangents(tape->names());
  for (const auto& [dual, tangent] : level.duals) KERF_CHECK(tangents.add(dual, tangent, run));
  const auto pushed = tape->pushForward(tangents, run);
  if (pushed) return tangents.of(output);
  if (pushed.error().code != ErrorCode::UnsupportedOp) return fail(pushed.error());
  return tangentByTwoGradients(level, output);
}

/// The gradient of an output is linear in the one that it starts from; the gradient of that function is the tangent.
Result<Value> FunctionLevels::tangentByTwoGradients(Level& level, const Tensor& output) {
  const std::shared_ptr<Tape> tape = level.tape;
  const OpRunner run(m_tracer);
  KERF_TRY(const Value start, run.value("aten.zeros_like.default"_op, {Value(output)}));
  tape->addLeaf(start.tensor());
  Gradients back(tape->names());
  KERF_CHECK(back.add(output, start, run));
  KERF_CHECK(tape->walkBack(back, run, [](NodeId) {}));
  Gradients forth(tape->names());
  for (const auto& [dual, tangent] : level.duals)
    if (const Value gradient = back.of(dual); gradient.isTensor() && tape->tracks(gradient.tensor()))
      KERF_CHECK(forth.add(gradient.tensor(), tangent, run));
  KERF_CHECK(tape->walkBack(forth, run, [](NodeId) {}));
  return forth.of(start.tensor());
}

bool holdsFunctionLevels(const GraphModule& module) {
  for (const NodeId id : module.graph.order()) {
    const Node& node = module.graph.node(id);
    if (node.op() == Opcode::CallFunction && lastName(node.target()).ends_with("_increment_nesting")) return true;
  }
  return std::ranges::any_of(module.submodules, [](const auto& entry) {
    return entry.second.graph != nullptr && holdsFunctionLevels(*entry.second.graph);
  });
}

}  // namespace kerf::inline autograd
