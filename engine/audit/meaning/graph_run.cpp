#include "engine/audit/meaning/graph_run.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stop_token>

#include "engine/accuracy/same_two_models.h"
#include "engine/ir/interpreter.h"

namespace kerf::inline audit {
namespace {

void markAll(const Value& value, GraphRun& run) {
  if (value.isList())
    for (const Value& each : value.list()) markAll(each, run);
  if (!value.isTensor()) return;
  if (const auto mark = ValueMark::of(value.tensor())) run.marks[mark->count].push_back(*mark);
}

bool areMostlyNan(const ValueList& values) {
  std::size_t nans = 0, all = 0;
  for (const Value& value : values) {
    const auto numbers = value.isTensor() ? numbersOf(value.tensor()) : std::nullopt;
    if (!numbers) continue;
    all += numbers->values.size();
    nans += std::size_t(std::ranges::count_if(numbers->values, [](double x) { return std::isnan(x); }));
  }
  return nans * 3 > all;
}

/// Whether a node may write into an operand: inputs are copied then.
bool writesOperands(const Graph& graph) {
  return std::ranges::any_of(graph.order(), [&](NodeId id) {
    const std::string& target = graph.node(id).target();
    return graph.node(id).op() == Opcode::CallFunction &&
           (target.find("_.") != std::string::npos || target.ends_with('_') ||
            target.find("higher_order") != std::string::npos);
  });
}

}  // namespace

bool GraphRun::hasNode(const ValueMark& mark) const {
  const auto found = marks.find(mark.count);
  return found != marks.end() &&
         std::ranges::any_of(found->second, [&](const ValueMark& each) { return each.isLike(mark, false); });
}

std::optional<double> graphElements(const GraphModule& graph) {
  double all = 0;
  for (const NodeId id : graph.graph.order()) {
    const Node& node = graph.graph.node(id);
    const TensorMeta* const meta = node.meta().value.tensor();
    static constexpr std::array<std::string_view, 8> views = {".reshape.", ".view.",   ".permute.",   ".expand.",
                                                              ".slice.",   ".select.", ".unsqueeze.", ".squeeze."};
    if (meta == nullptr || std::ranges::any_of(views, [&](std::string_view each) {
          return node.target().find(each) != std::string::npos;
        }))
      continue;
    const auto sizes = meta->concreteSizes();
    if (!sizes) return std::nullopt;
    double count = 1;
    for (const std::int64_t size : *sizes) count *= double(size);
    all += count;
  }
  return all;
}

Result<GraphRun> runGraph(const GraphModule& graph, const ValueList& inputs, const DrawnOperators& ops, bool marksNodes,
                          const std::function<bool()>& goesOn) {
  GraphRun run;
  KERF_TRY(const GraphModule cast, castToFp64(graph));
  const GraphModule wide = withFloat64Types(cast);
  const bool isCopied = writesOperands(wide.graph);
  ValueList given;
  for (const Value& input : inputs) {
    KERF_TRY(Value before, inFloat64Value(input));
    run.inputs.push_back(before);
    KERF_TRY(Value own, isCopied ? inFloat64Value(input) : Result<Value>(before));
    given.push_back(std::move(own));
  }
  for (const NodeId id : wide.graph.placeholders()) run.names.push_back(wide.graph.node(id).name());
  Interpreter interpreter(wide, ops);
  std::stop_source stop;
  interpreter.onNode = [&](const Node& node, const Value& value) {
    if (marksNodes && node.op() != Opcode::Output) markAll(value, run);
    if (!goesOn()) stop.request_stop();
  };
  KERF_TRY(const Value output, interpreter.run(given, stop.get_token()));
  if (output.isList())
    run.outputs = output.list();
  else
    run.outputs = {output};
  run.inputsAfter = std::move(given);
  run.isMostlyNan = areMostlyNan(run.outputs);
  return run;
}

}  // namespace kerf::inline audit
