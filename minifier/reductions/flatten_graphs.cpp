// flatten_graphs: all nested graphs at once, then ever fewer of them.
#include "minifier/reductions/flatten_graphs.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include "minifier/core/candidate.h"
#include "minifier/core/candidate_editor.h"
#include "minifier/core/nested_runs.h"
#include "minifier/core/subset_builder.h"
#include "minifier/core/tensor_like.h"

namespace kerf::inline minifier::inline reductions {

namespace {

/// Ops whose nested graphs compute on something else than the operands, or that are more than their nested graph.
constexpr std::array<std::string_view, 4> closedOps{"flex_attention", "auto_functionalized", "triton_kernel",
                                                    "with_effects"};
/// Ops that run a graph many times: their results are not those of one run.
constexpr std::array<std::string_view, 5> loopOps{"while_loop", "scan", "associative_scan", "map", "autograd_function"};

constexpr std::size_t smallGraph = 64;

std::string_view shortName(const Node& node) {
  constexpr std::string_view prefix = "torch.ops.higher_order.";
  std::string_view name = node.target();
  if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  return name;
}

template <std::size_t N>
bool isOneOf(const Node& node, const std::array<std::string_view, N>& names) {
  return std::ranges::any_of(names, [&](std::string_view name) { return shortName(node).starts_with(name); });
}

/// Writes the calls of nested graphs into the graph around them.
class Flattening {
 public:
  explicit Flattening(const ReductionInput& input) : m_editor(input.candidate) {}

  bool flatten(const NestedCall& call) {
    const bool loops = isOneOf(graph().node(call.call), loopOps);
    Argument result;
    std::vector<NodeId> made;  // what the bodies return, of their own calls
    for (const NestedRun& run : call.runs) {
      auto written = writeBody(run, call.call);
      if (!written) return false;
      result = std::move(*written);
      forEachNode(result, [&](NodeId id) {
        if (isCallNode(graph().node(id))) made.push_back(id);
      });
    }
    if (!loops && takeResult(call.call, result)) return true;
    if (!m_editor.cut(call.call, call.result)) return false;
    returnToo(made);  // or nothing would use them
    return true;
  }

  std::optional<Candidate> finish() { return m_editor.finishWithShapes(); }

 private:
  using Mapping = std::map<NodeId, Argument>;
  Graph& graph() { return m_editor.graph(); }

  /// What the body returns, after its calls were written before `anchor`.
  std::optional<Argument> writeBody(const NestedRun& run, NodeId anchor) {
    const Graph& body = run.graph->graph;
    Mapping mapping;
    const std::vector<NodeId> placeholders = body.placeholders();
    if (placeholders.size() != run.operands.size() || !body.outputNode().valid()) return std::nullopt;
    for (std::size_t i = 0; i < placeholders.size(); ++i) {
      auto operand = operandOf(run, i, body.node(placeholders[i]));
      if (!operand) return std::nullopt;
      mapping.emplace(placeholders[i], std::move(*operand));
    }
    for (const NodeId id : body.order())
      if (body.node(id).op() != Opcode::Placeholder && body.node(id).op() != Opcode::Output)
        writeNode(run, body.node(id), anchor, mapping);
    const ArgumentList& returned = body.node(body.outputNode()).args();
    return returned.empty() ? Argument() : mapNodes(returned[0], [&](NodeId id) { return mapping.at(id); });
  }

  std::optional<Argument> operandOf(const NestedRun& run, std::size_t i, const Node& placeholder) {
    const Value& value = run.operands[i];
    if (const auto now = m_taken.find(run.sources[i]); now != m_taken.end()) return now->second;
    if (run.sources[i].valid() && graph().contains(run.sources[i])) return run.sources[i];
    if (auto literal = literalOf(value, {})) return literal;
    return hasData(value) ? std::optional<Argument>(m_editor.addInput(placeholder.name(), value)) : std::nullopt;
  }

  void writeNode(const NestedRun& run, const Node& node, NodeId anchor, Mapping& mapping) {
    const auto mapped = [&](NodeId id) { return mapping.at(id); };
    ArgumentList args;
    for (const Argument& argument : node.args()) args.push_back(renamed(run, mapNodes(argument, mapped)));
    KeywordArguments kwargs;
    for (const auto& [name, argument] : node.kwargs())
      kwargs.emplace_back(name, renamed(run, mapNodes(argument, mapped)));
    const bool isPath = node.op() == Opcode::GetAttr || node.op() == Opcode::CallModule;
    const std::string target = isPath ? moved(run, node.target()) : node.target();
    const InsertionScope scope(graph(), InsertionScope::Where::Before, anchor);
    const NodeId made = graph().createNamed(node.op(), target, std::move(args), std::move(kwargs), node.name());
    graph().setMeta(made, node.meta());
    mapping.emplace(node.id(), made);
  }

  Argument renamed(const NestedRun& run, const Argument& argument) {
    if (const auto* reference = argument.as<SubgraphRef>()) return SubgraphRef{moved(run, reference->path)};
    const ListArgument* list = argument.asList();
    if (!list) return argument;
    ListArgument result = *list;
    for (Argument& item : result.items) item = renamed(run, item);
    return result;
  }

  /// What the nested module has at `path`, now an attribute or submodule of the outer one.
  std::string moved(const NestedRun& run, const std::string& path) {
    const auto [entry, isNew] = m_moved.try_emplace({run.path, path});
    if (!isNew) return entry->second;
    std::string name = run.path + "_" + path;
    std::ranges::replace(name, '.', '_');
    GraphModule& module = m_editor.module();
    while (module.attribute(name) || module.submodule(name)) name += "_";  // somebody else's
    if (const TensorAttribute* attribute = run.graph->attribute(path)) module.attributes.add(name, *attribute);
    if (const Submodule* submodule = run.graph->submodule(path)) module.submodules.add(name, *submodule);
    return entry->second = name;
  }

  void returnToo(const std::vector<NodeId>& made) {
    std::vector<NodeId> outputs = returnedNodes(graph());
    for (const NodeId id : made)
      if (std::ranges::find(outputs, id) == outputs.end()) outputs.push_back(id);
    m_editor.setOutputs(outputs);
  }

  /// The call's users take what the body returns; false where they want something else.
  bool takeResult(NodeId call, const Argument& result) {
    const ListArgument* items = result.asList();
    const std::vector<NodeId> users = graph().node(call).users();
    if (!items) {
      const auto* node = result.as<NodeId>();
      if (!node) return false;
      graph().replaceAllUsesWith(call, *node);
      m_taken.emplace(call, *node);
      return graph().eraseNode(call).has_value();
    }
    for (const NodeId user : users) {
      const Node& getter = graph().node(user);
      const auto* index = getter.args().size() == 2 ? getter.args()[1].as<std::int64_t>() : nullptr;
      const bool inRange = index && *index >= 0 && std::size_t(*index) < items->items.size();
      const auto* item = inRange ? items->items[std::size_t(*index)].as<NodeId>() : nullptr;
      if (!getter.isCall("operator.getitem"_op) || !item) return false;
    }
    for (const NodeId user : users) {
      const auto index = std::size_t(*graph().node(user).args()[1].as<std::int64_t>());
      graph().replaceAllUsesWith(user, *items->items[index].as<NodeId>());
      m_taken.emplace(user, *items->items[index].as<NodeId>());
      if (!graph().eraseNode(user)) return false;
    }
    return graph().eraseNode(call).has_value();
  }

  CandidateEditor m_editor;
  std::map<NodeId, NodeId> m_taken;                                    ///< what stands for nodes that are gone
  std::map<std::pair<std::string, std::string>, std::string> m_moved;  ///< (path, path in there) → outer name
};

/// What the nested calls of one candidate ran, found once for all edits of a list.
class NestedCalls {
 public:
  explicit NestedCalls(const ReductionInput& input) : m_input(input) {
    for (const NodeId id : callNodes(input.graph())) {
      const Node& node = input.graph().node(id);
      if (!isOneOf(node, closedOps) && !nestedGraphs(input.candidate.module, node).empty()) ids.push_back(id);
    }
  }

  /// Those of `ids` from `begin` to before `end` flattened, as many as can be.
  std::optional<Candidate> flattened(std::size_t begin, std::size_t end) {
    if (!m_ran) m_calls = nestedRuns(m_input.candidate, m_input.stop);
    m_ran = true;
    std::vector<const NestedCall*> chosen;
    for (const NestedCall& call : m_calls)
      if (std::find(ids.begin() + std::ptrdiff_t(begin), ids.begin() + std::ptrdiff_t(end), call.call) !=
          ids.begin() + std::ptrdiff_t(end))
        chosen.push_back(&call);
    while (!chosen.empty()) {
      Flattening flattening(m_input);
      const auto refused =
          std::ranges::find_if(chosen, [&](const NestedCall* call) { return !flattening.flatten(*call); });
      if (refused == chosen.end()) return flattening.finish();
      chosen.erase(refused);  // it has left its traces: the others once more, without it
    }
    return std::nullopt;
  }

  std::vector<NodeId> ids;  ///< calls that are given graphs which can be flattened

 private:
  const ReductionInput& m_input;
  bool m_ran = false;
  std::vector<NestedCall> m_calls;
};

/// All, halves, quarters, … each alone; in a graph that is yet to be searched not in smaller parts than eighths.
std::vector<Edit> editsThatFlattenGraphs(const ReductionInput& input, ResumePoint) {
  std::vector<Edit> list;
  const auto calls = std::make_shared<NestedCalls>(input);
  const std::size_t count = calls->ids.size();
  const std::size_t least = callNodes(input.graph()).size() > smallGraph ? std::max<std::size_t>(1, count / 8) : 1;
  for (std::size_t width = count; width >= least && width > 0; width /= 2)
    for (std::size_t begin = 0; begin < count; begin += width)
      list.push_back(
          {{}, [calls, begin, end = std::min(begin + width, count)] { return calls->flattened(begin, end); }});
  return list;
}

}  // namespace

Reduction flattenGraphs() {
  return {"flatten_graphs", "Writes the calls of nested graphs into the graph around them.", editsThatFlattenGraphs};
}

}  // namespace kerf::inline minifier::inline reductions
