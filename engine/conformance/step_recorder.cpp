#include "engine/conformance/step_recorder.h"

#include <algorithm>

namespace kerf::inline conformance {
namespace {

bool mayFlow(const Value& value) {
  return value.isTensor() && (isFloating(value.tensor().dtype()) || isComplex(value.tensor().dtype()));
}

/// What is known of a value's tensors: a tensor, a list in the shape of the value, or None.
Value lookUp(const TracedTensors& known, const Value& value) {
  if (value.isTensor()) {
    const auto found = known.find(value.tensor().traced);
    return found == known.end() ? Value() : Value(found->second);
  }
  if (!value.isList()) return {};
  ValueList items;
  for (const Value& item : value.list()) items.push_back(lookUp(known, item));
  return std::ranges::all_of(items, &Value::isNone) ? Value() : Value(std::move(items));
}

ValueList lookUp(const TracedTensors& known, const ValueList& values) {
  ValueList result;
  for (const Value& value : values) result.push_back(lookUp(known, value));
  return result;
}

std::string join(const SymSizes& sizes) {
  std::vector<SymInt> items;
  for (std::size_t d = 0; d < sizes.size(); ++d) items.push_back(sizes[d]);
  return fmt::format("[{}]", fmt::join(items, ", "));
}

/// Notes what flows to `value` by `part`, which must look like it.
Result<void> note(TracedTensors& flows, const Value& value, const Value& part, const OpRunner& run) {
  if (value.isList() && part.isList()) {
    for (std::size_t i = 0; i < std::min(value.list().size(), part.list().size()); ++i)
      KERF_CHECK(note(flows, value.list()[i], part.list()[i], run));
    return {};
  }
  if (!value.isTensor() || !part.isTensor()) return {};
  const Tensor &tensor = value.tensor(), &flow = part.tensor();
  if (!tensor.symSizes().isIdentical(flow.symSizes()))
    return fail(ErrorCode::ShapeMismatch, "sizes {} instead of {}", join(flow.symSizes()), join(tensor.symSizes()));
  if (tensor.dtype() != flow.dtype())
    return fail(ErrorCode::ShapeMismatch, "dtype {} instead of {}", dtypeInfo(flow.dtype()).torchName,
                dtypeInfo(tensor.dtype()).torchName);
  if (tensor.traced < 0) return {};
  const auto [found, isFirst] = flows.try_emplace(tensor.traced, flow);
  if (isFirst) return {};
  KERF_TRY(found->second, run("aten.add.Tensor"_op, {found->second, flow}));
  return {};
}

std::unexpected<Error> failedStep(const char* column, const BoundArguments& args, const Error& error) {
  return fail(error.code, "{} of {}: {}", column, args.op->schema.qualifiedName(), error.message);
}

}  // namespace

const OpInfo* differentiatedRow(const OpInfo& op) {
  if (op.gradient != nullptr) return &op;
  const OpInfo* base = findOp(op.base);
  return base != nullptr && base != &op && base->gradient != nullptr ? base : nullptr;
}

Tensor StepRecorder::leaf(const Tensor& tensor) const {
  Tensor handle = tensor;
  handle.traced = m_names++;
  m_followed[handle.traced] = true;
  return handle;
}

bool StepRecorder::follows(const Value& value) const {
  if (value.isTensor()) return m_followed.contains(value.tensor().traced);
  return value.isList() && std::ranges::any_of(value.list(), [&](const Value& item) { return follows(item); });
}

Value StepRecorder::named(const Value& value) const {
  if (value.isTensor()) {
    Tensor handle = value.tensor();
    handle.traced = m_names++;
    return handle;
  }
  if (!value.isList()) return value;
  ValueList items;
  for (const Value& item : value.list()) items.push_back(named(item));
  return Value(std::move(items));
}

Result<Value> StepRecorder::call(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs) const {
  const OpInfo* op = findOp(target);
  if (op != nullptr && op->composite != nullptr && op->gradient == nullptr) {
    KERF_TRY(const BoundArguments bound, bindArguments(*op, args, kwargs));
    return op->composite(bound, OpRunner(*this));
  }
  KERF_TRY(const Value result, m_ops.call(target, args, kwargs));
  const Value handles = named(result);
  const auto followed = [&](const Value& value) { return follows(value); };
  const bool flows = std::ranges::any_of(args, followed) ||
                     std::ranges::any_of(kwargs, [&](const auto& entry) { return follows(entry.second); });
  if (!flows) return handles;
  if (op != nullptr && differentiatedRow(*op) != nullptr)
    KERF_CHECK(record(*differentiatedRow(*op), args, kwargs, handles));
  else if (m_missing.empty())
    m_missing = std::string(target.text);
  return handles;
}

Result<void> StepRecorder::record(const OpInfo& row, const ValueList& args, const KeywordValues& kwargs,
                                  const Value& result) const {
  if (row.gradient == nothingFlows) return {};
  Step step;
  KERF_TRY(step.args, bindArguments(row, args, kwargs));
  const bool several = row.schema.returns.size() > 1 && result.isList();
  step.results = several ? result.list() : ValueList{result};
  const auto follow = [&](const auto& self, const Value& value) -> void {
    if (mayFlow(value)) m_followed[value.tensor().traced] = true;
    if (value.isList())
      for (const Value& item : value.list()) self(self, item);
  };
  for (const Value& value : step.results) follow(follow, value);
  m_steps.push_back(std::move(step));
  return {};
}

Result<TracedTensors> StepRecorder::pullBack(const TracedTensors& cotangents) const {
  TracedTensors flows = cotangents;
  const OpRunner run(m_ops);
  for (auto step = m_steps.rbegin(); step != m_steps.rend(); ++step) {
    const ValueList grads = lookUp(flows, step->results);
    if (std::ranges::all_of(grads, &Value::isNone)) continue;
    CallRecord call{step->args, step->results, {}};
    for (const Value& value : step->args.values) call.wanted.push_back(follows(value));
    const auto parts = step->args.op->gradient(call, grads, run);
    if (!parts) return failedStep("the gradient", step->args, parts.error());
    for (std::size_t i = 0; i < std::min(parts->size(), step->args.values.size()); ++i) {
      if (!call.wanted[i]) continue;
      const auto noted = note(flows, step->args.values[i], (*parts)[i], run);
      if (!noted) return failedStep("the gradient", step->args, noted.error());
    }
  }
  return flows;
}

Result<TracedTensors> StepRecorder::pushForward(const TracedTensors& tangents) const {
  TracedTensors flows = tangents;
  const OpRunner run(m_ops);
  for (const Step& step : m_steps) {
    const ValueList parts = lookUp(flows, step.args.values);
    if (std::ranges::all_of(parts, &Value::isNone)) continue;
    if (step.args.op->jvp == nullptr)
      return fail(ErrorCode::UnsupportedOp, "{} has no jvp", step.args.op->schema.qualifiedName());
    const auto tangent = step.args.op->jvp({step.args, step.results, {}}, parts, run);
    if (!tangent) return failedStep("the jvp", step.args, tangent.error());
    const bool several = step.results.size() > 1;
    const Value results = several ? Value(step.results) : step.results[0];
    const auto noted = note(flows, results, *tangent, run);
    if (!noted) return failedStep("the jvp", step.args, noted.error());
  }
  return flows;
}

}  // namespace kerf::inline conformance
