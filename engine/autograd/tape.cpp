#include "engine/autograd/tape.h"

#include <algorithm>

#include "engine/autograd/gradient_rules_of_ops.h"
#include "engine/ops/core/invented_numbers.h"

namespace kerf::inline autograd {
Result<Tensor> fittedGradient(const Tensor& gradient, const Tensor& tensor, const OpRunner& run) {
  CompositeSteps s(run);
  Tensor result = sumToSize(s, gradient, tensor.symSizes());
  if (result.dtype() != tensor.dtype()) {
    const bool dropsImaginary = isComplex(result.dtype()) && !isComplex(tensor.dtype());
    if (dropsImaginary) result = s("aten.real.default"_op, {result});
    if (result.dtype() != tensor.dtype()) result = s("aten._to_copy.default"_op, {result}, {{"dtype", tensor.dtype()}});
  }
  KERF_CHECK(s.done({}));
  return result;
}

std::size_t differentiableResults(OpId op) {
  const bool batchNorm = op == "aten._native_batch_norm_legit_functional.default"_op ||
                         op == "aten._batch_norm_with_update_functional.default"_op ||
                         op == "aten._native_batch_norm_legit.no_stats"_op ||
                         op == "aten._native_batch_norm_legit_no_training.default"_op;
  return batchNorm ? 1 : SIZE_MAX;
}

bool mayHaveGradient(const Value& value) {
  return value.isTensor() && (isFloating(value.tensor().dtype()) || isComplex(value.tensor().dtype()));
}

namespace {

/// The base row, where its derivatives are the op's: it takes no single tensor where the op takes a list of them.
const OpInfo* baseOfDerivatives(const OpInfo& op) {
  const OpInfo* base = findOp(op.base);
  if (base == nullptr || base == &op) return nullptr;
  const auto listsTensors = [](const SchemaArgument& argument) {
    return argument.type.starts_with("Tensor") && argument.type.ends_with("[]");
  };
  const auto &own = op.schema.arguments, &others = base->schema.arguments;
  for (std::size_t i = 0; i < std::min(own.size(), others.size()); ++i)
    if (listsTensors(own[i]) != listsTensors(others[i])) return nullptr;
  return base;
}

}  // namespace

Gradient gradientOf(const OpInfo& op) {
  if (op.gradient != nullptr) return op.gradient;
  const OpInfo* base = baseOfDerivatives(op);
  return base != nullptr ? base->gradient : nullptr;
}

int Gradients::nameOf(const Tensor& tensor) const {
  const auto found = m_names.find(tensor.traced);
  return found == m_names.end() ? tensor.traced : found->second;
}

Jvp jvpOf(const OpInfo& op) {
  if (op.jvp != nullptr) return op.jvp;
  const OpInfo* base = baseOfDerivatives(op);
  return base != nullptr ? base->jvp : nullptr;
}

Value Gradients::of(const Tensor& tensor) const {
  const auto found = m_gradients.find(nameOf(tensor));
  return found == m_gradients.end() ? Value() : Value(found->second);
}

Value Gradients::ofResult(const Value& result) const {
  if (result.isTensor()) return of(result.tensor());
  if (!result.isList()) return {};
  ValueList items;
  for (const Value& item : result.list()) items.push_back(ofResult(item));
  return std::ranges::all_of(items, &Value::isNone) ? Value() : Value(std::move(items));
}

Result<void> Gradients::add(const Tensor& tensor, const Value& gradient, const OpRunner& run) {
  if (!gradient.isTensor()) return {};
  KERF_TRY(const Tensor part, fittedGradient(gradient.tensor(), tensor, run));
  const auto [found, isFirst] = m_gradients.try_emplace(nameOf(tensor), part);
  if (isFirst) return {};
  KERF_TRY(found->second, run("aten.add.Tensor"_op, {found->second, part}));
  return {};
}

void Tape::sameValue(const Tensor& name, const Tensor& of) {
  const auto known = m_sameAs.find(of.traced);
  m_sameAs.emplace(name.traced, known == m_sameAs.end() ? of.traced : known->second);
  if (tracks(of)) m_tracked.insert(name.traced);
}

bool Tape::tracksAny(const Value& value) const {
  if (value.isTensor()) return tracks(value.tensor());
  return value.isList() && std::ranges::any_of(value.list(), [&](const Value& item) { return tracksAny(item); });
}

bool Tape::tracksAny(const ValueList& values, const KeywordValues& kwargs) const {
  return std::ranges::any_of(values, [&](const Value& value) { return tracksAny(value); }) ||
         std::ranges::any_of(kwargs, [&](const auto& entry) { return tracksAny(entry.second); });
}

void Tape::track(const Value& result) {
  if (mayHaveGradient(result)) m_tracked.insert(result.tensor().traced);
  if (!result.isList()) return;
  for (const Value& item : result.list()) track(item);
}

Result<void> Tape::record(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs, const Value& result,
                          NodeId node) {
  if (gradientOf(op) == nothingFlows) return {};
  KERF_TRY(BoundArguments bound, bindArguments(op, args, kwargs));
  if (inventsNumbers(bound, args, kwargs) && tracksAny(args, kwargs))
    return fail(ErrorCode::UnsupportedOp,
                "{}: its derivative needs a number that only running tells: an element of a tensor",
                op.schema.qualifiedName());
  Step step{.op = &op, .args = std::move(bound), .results = {}, .wanted = {}, .node = node, .backward = {}};
  for (const Value& value : step.args.values) step.wanted.push_back(tracksAny(value));
  step.results = op.schema.returns.size() == 1 || !result.isList() ? ValueList{result} : result.list();
  const std::size_t differentiable = std::min(step.results.size(), differentiableResults(op.id));
  for (std::size_t i = 0; i < differentiable; ++i) track(step.results[i]);
  m_steps.push_back(std::move(step));
  return {};
}

void Tape::recordCustom(ValueList inputs, const ValueList& results, NodeId node, Backward backward) {
  Step step{.op = nullptr,
            .args = {nullptr, std::move(inputs)},
            .results = results,
            .wanted = {},
            .node = node,
            .backward = std::move(backward)};
  for (const Value& value : results) track(value);
  m_steps.push_back(std::move(step));
}

Result<void> Tape::walkBack(Gradients& gradients, const OpRunner& run, const OnStep& onStep) const {
  for (std::size_t i = m_steps.size(); i-- > 0;) {
    onStep(m_steps[i].node);
    KERF_CHECK(walkBack(m_steps[i], gradients, run));
  }
  onStep({});
  return {};
}

Result<void> Tape::walkBack(const Step& step, Gradients& gradients, const OpRunner& run) const {
  ValueList grads;
  for (const Value& result : step.results) grads.push_back(gradients.ofResult(result));
  if (std::ranges::all_of(grads, &Value::isNone)) return {};
  if (step.op != nullptr && gradientOf(*step.op) == nullptr)
    return fail(ErrorCode::UnsupportedOp, "{} has no gradient rule", step.op->schema.qualifiedName());
  const CallRecord call{step.args, step.results, step.wanted};
  KERF_TRY(const ValueList flows, step.op ? gradientOf (*step.op)(call, grads, run) : step.backward(grads, run));
  for (std::size_t i = 0; i < std::min(flows.size(), step.args.values.size()); ++i) {
    const Value& argument = step.args.values[i];
    if (argument.isTensor() && tracks(argument.tensor())) KERF_CHECK(gradients.add(argument.tensor(), flows[i], run));
    if (!argument.isList() || !flows[i].isList()) continue;
    const ValueList &items = argument.list(), &parts = flows[i].list();
    for (std::size_t k = 0; k < std::min(items.size(), parts.size()); ++k)
      if (items[k].isTensor() && tracks(items[k].tensor())) KERF_CHECK(gradients.add(items[k].tensor(), parts[k], run));
  }
  return {};
}

Result<void> Tape::pushForward(Gradients& tangents, const OpRunner& run) const {
  for (std::size_t i = 0, count = m_steps.size(); i < count; ++i) KERF_CHECK(pushForward(m_steps[i], tangents, run));
  return {};
}

Result<void> Tape::pushForward(const Step& step, Gradients& tangents, const OpRunner& run) {
  ValueList flows;
  for (const Value& argument : step.args.values) flows.push_back(tangents.ofResult(argument));
  if (std::ranges::all_of(flows, &Value::isNone)) return {};
  const Jvp jvp = step.op != nullptr ? jvpOf(*step.op) : nullptr;
  if (jvp == nullptr)
    return fail(ErrorCode::UnsupportedOp, "{} has no forward-mode formula",
                step.op ? step.op->schema.qualifiedName() : "a function with a backward of its own");
  KERF_TRY(const Value tangent, jvp({step.args, step.results, step.wanted}, flows, run));
  const ValueList parts = tangent.isList() ? tangent.list() : ValueList{tangent};
  const ValueList results =
      step.results.size() == 1 && step.results[0].isList() ? step.results[0].list() : step.results;
  for (std::size_t i = 0; i < std::min(parts.size(), results.size()); ++i)
    if (results[i].isTensor()) KERF_CHECK(tangents.add(results[i].tensor(), parts[i], run));
  return {};
}

}  // namespace kerf::inline autograd
