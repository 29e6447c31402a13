#include "engine/audit/meaning/graph_run.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <stop_token>

#include "engine/accuracy/same_two_models.h"
#include "engine/audit/meaning/number_difference.h"
#include "engine/ir/interpreter.h"
#include "engine/ops/core/op_registry.h"

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

/// By placeholder: whether a node writes into it, or into a view of it.
std::vector<bool> writtenInputs(const Graph& graph) {
  const std::vector<NodeId> placeholders = graph.placeholders();
  std::map<NodeId, std::size_t> inputs;  // and views of them
  for (std::size_t i = 0; i < placeholders.size(); ++i) inputs[placeholders[i]] = i;
  std::vector<bool> writes(placeholders.size(), false);
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const auto* const operand = node.args().empty() ? nullptr : node.args()[0].as<NodeId>();
    const auto input = operand == nullptr ? inputs.end() : inputs.find(*operand);
    if (node.op() != Opcode::CallFunction || input == inputs.end()) continue;
    const bool isWriter = std::string_view(node.target()).substr(0, node.target().rfind('.')).ends_with('_');
    const ops::OpInfo* const op = findOp(node);
    if (isWriter) writes[input->second] = true;
    if (isWriter || (op != nullptr && has(op->traits, ops::OpTrait::View))) inputs.try_emplace(id, input->second);
  }
  return writes;
}

}  // namespace

bool GraphRun::isWritten(std::size_t input) const {
  const Value &before = inputs[input], &after = inputsAfter[input];
  if (!before.isTensor() || !after.isTensor()) return false;
  if (input < writes.size() && writes[input]) return true;
  if (before.tensor().storage() == after.tensor().storage()) return false;
  const auto a = numbersOf(before.tensor()), b = numbersOf(after.tensor());
  return a && b && (a->sizes != b->sizes || firstDifference(a->values, b->values, true).has_value());
}

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
  run.writes = writtenInputs(wide.graph);
  run.isMostlyNan = areMostlyNan(run.outputs);
  return run;
}

}  // namespace kerf::inline audit
