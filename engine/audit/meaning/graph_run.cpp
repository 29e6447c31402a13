#include "engine/audit/meaning/graph_run.h"

#include <algorithm>
#include <cmath>
#include <stop_token>

#include "engine/accuracy/same_two_models.h"
#include "engine/ir/interpreter.h"

namespace kerf::inline audit {
namespace {

void markAll(const Value& value, GraphRun& run, std::size_t& nans, std::size_t& all) {
  if (value.isList())
    for (const Value& each : value.list()) markAll(each, run, nans, all);
  if (!value.isTensor()) return;
  const auto numbers = numbersOf(value.tensor());
  if (!numbers) return;
  all += numbers->values.size();
  nans += std::size_t(std::ranges::count_if(numbers->values, [](double x) { return std::isnan(x); }));
  run.marks[numbers->values.size()].push_back(ValueMark::of(*numbers));
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
    const TensorMeta* const meta = graph.graph.node(id).meta().value.tensor();
    if (meta == nullptr) continue;
    const auto sizes = meta->concreteSizes();
    if (!sizes) return std::nullopt;
    double count = 1;
    for (const std::int64_t size : *sizes) count *= double(size);
    all += count;
  }
  return all;
}

Result<GraphRun> runGraph(const GraphModule& graph, const ValueList& inputs, const DrawnOperators& ops,
                          const std::function<bool()>& goesOn) {
  GraphRun run;
  KERF_TRY(const GraphModule cast, castToFp64(graph));
  const GraphModule wide = withFloat64Types(cast);
  ValueList given;
  for (const Value& input : inputs) {
    KERF_TRY(Value before, inFloat64Value(input));
    KERF_TRY(Value own, inFloat64Value(input));
    run.inputs.push_back(std::move(before));
    given.push_back(std::move(own));
  }
  for (const NodeId id : wide.graph.placeholders()) run.names.push_back(wide.graph.node(id).name());
  std::size_t nans = 0, all = 0;
  Interpreter interpreter(wide, ops);
  std::stop_source stop;
  interpreter.onNode = [&](const Node& node, const Value& value) {
    if (node.op() != Opcode::Output) markAll(value, run, nans, all);
    if (!goesOn()) stop.request_stop();
  };
  KERF_TRY(const Value output, interpreter.run(given, stop.get_token()));
  if (output.isList())
    run.outputs = output.list();
  else
    run.outputs = {output};
  run.inputsAfter = std::move(given);
  run.isMostlyNan = nans * 3 > all;
  return run;
}

}  // namespace kerf::inline audit
