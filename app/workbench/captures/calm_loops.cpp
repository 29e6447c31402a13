#include "app/workbench/captures/calm_loops.h"

#include <algorithm>
#include <cmath>

#include "engine/accuracy/same_two_models.h"
#include "engine/ir/interpreter.h"
#include "engine/ops/core/op_registry.h"
#include "engine/ops/higher_order/loop_limit.h"
#include "engine/process/in_child.h"

namespace kerf::workbench {

namespace {

constexpr std::int64_t triedIterations = 20'000;
constexpr std::chrono::seconds triedTime{10};

bool hasWhileLoop(const GraphModule& module) {
  const auto calls = [&](NodeId id) { return module.graph.node(id).target().ends_with("while_loop"); };
  if (std::ranges::any_of(module.graph.order(), calls)) return true;
  return std::ranges::any_of(module.submodules, [](const auto& entry) {
    return entry.second.graph != nullptr && hasWhileLoop(*entry.second.graph);
  });
}

bool isFinite(const Value& value) {
  if (value.isList()) return std::ranges::all_of(value.list(), isFinite);
  if (!value.isTensor() || !value.tensor().defined() || !isFloating(value.tensor().dtype())) return true;
  const auto wide = value.tensor().to(DType::Float64);
  const auto flat = wide ? wide->contiguous() : wide;
  if (!flat) return true;
  const double* data = flat->data<double>();
  return std::all_of(data, data + flat->numel(), [](double element) { return std::isfinite(element); });
}

/// Whether the graph ends with finite results.
bool endsWell(const GraphModule& module, const ValueList& inputs, const Job& job) {
  const std::function body = [&]() -> Result<bool> {
    const LoopLimit limit(triedIterations);
    KERF_TRY(const ValueList own, cloneInputs(inputs, false));
    Interpreter interpreter(module, referenceOps());
    KERF_TRY(const Value result, interpreter.run(own, job.stop));
    return isFinite(result);
  };
  const auto ended = inChild(body, patientLimits(triedTime), job.stop, "trying a loop", ErrorCode::RuntimeFailed);
  return ended && *ended;
}

/// How made-up inputs are changed.
struct Gentler {
  bool dominates;  ///< square matrices: rows whose diagonal outweighs the rest
  double scale;    ///< of everything else
  const char* words;
};
constexpr Gentler gentlerWays[] = {{true, 1, "square matrices with a heavy diagonal"},
                                   {false, 0.1, "a tenth of the first values"},
                                   {true, 0.1, "a tenth of the first values, square matrices with a heavy diagonal"},
                                   {false, 0.001, "a thousandth of the first values"}};

Result<Value> gentler(const Value& value, const Gentler& way) {
  if (!value.isTensor() || !value.tensor().defined() || !isFloating(value.tensor().dtype())) return value;
  const Tensor& tensor = value.tensor();
  KERF_TRY(Tensor wide, tensor.to(DType::Float64));
  KERF_TRY(wide, wide.contiguous());
  KERF_TRY(wide, wide.clone());
  const std::size_t rank = tensor.sizes().size();
  const std::int64_t columns = rank > 0 ? tensor.sizes()[rank - 1] : 1;
  const bool square = way.dominates && rank >= 2 && columns > 1 && tensor.sizes()[rank - 2] == columns;
  double* const data = wide.data<double>();
  for (std::int64_t i = 0; i < wide.numel(); ++i) {
    const bool diagonal = square && (i / columns) % columns == i % columns;
    data[i] = square ? (diagonal ? 1 : data[i] * 0.5 / double(columns)) : data[i] * way.scale;
  }
  KERF_TRY(Tensor narrow, wide.to(tensor.dtype()));
  narrow.setDevice(tensor.device());
  return Value(std::move(narrow));
}

}  // namespace

Result<void> calmLoops(RunnableGraph& graph, const Job& job) {
  const GraphModule& module = graph.graph().module;
  const auto isMadeUp = [&](std::size_t i) {
    return i < graph.origins.size() && graph.origins[i].source == InputOrigin::Source::Generated;
  };
  bool anyMadeUp = false;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) anyMadeUp = anyMadeUp || isMadeUp(i);
  if (!anyMadeUp || graph.fill != InputFill::Plausible || !hasWhileLoop(module)) return {};
  if (endsWell(module, graph.inputs, job)) return {};
  for (const Gentler& way : gentlerWays) {
    ValueList inputs = graph.inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!isMadeUp(i)) continue;
      KERF_TRY(inputs[i], gentler(inputs[i], way));
    }
    if (!endsWell(module, inputs, job)) continue;
    graph.inputs = std::move(inputs);
    job.warn(fmt::format("a loop of the graph does not end with the inputs that were made up first: they are {} now",
                         way.words));
    return {};
  }
  return {};
}

}  // namespace kerf::workbench
