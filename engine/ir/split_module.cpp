#include "engine/ir/split_module.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/ir/graph_copy.h"
#include "engine/ir/submodules.h"
#include "engine/ir/symbolic_trace.h"

namespace kerf::inline ir {
namespace {

bool isCall(const Node& node) {
  return node.op() == Opcode::CallFunction || node.op() == Opcode::CallMethod || node.op() == Opcode::CallModule;
}

struct Part {
  std::int64_t number = 0;
  std::vector<NodeId> nodes;
  std::vector<NodeId> inputs;   ///< values from outside, attributes apart
  std::vector<NodeId> outputs;  ///< values that are used outside
  std::set<std::size_t> after;  ///< parts that must have run
};

class Splitter {
 public:
  Splitter(const GraphModule& module, const SplitOptions& options) : m_module(module), m_options(options) {}

  Result<SplitModule> run(const std::function<std::int64_t(const Node&)>& partOf) {
    assign(partOf);
    connect();
    KERF_TRY(const std::vector<std::size_t> order, inOrder());
    SplitModule split{.module = m_module, .parts = {}};
    split.module.graph = Graph();
    for (const NodeId input : m_module.graph.placeholders()) keep(split.module.graph, input);
    for (const std::size_t index : order) split.parts.push_back(addCall(split.module, m_parts[index]));
    if (const NodeId output = m_module.graph.outputNode(); output.valid()) {
      for (const NodeId input : m_module.graph.node(output).inputs())
        if (isAttribute(input)) keep(split.module.graph, input);
      keep(split.module.graph, output);
    }
    deleteAllUnusedSubmodules(split.module);
    deleteAllUnusedAttributes(split.module);
    return split;
  }

 private:
  bool isAttribute(NodeId id) const { return m_module.graph.node(id).op() == Opcode::GetAttr; }

  void assign(const std::function<std::int64_t(const Node&)>& partOf) {
    std::map<std::int64_t, std::size_t> byNumber;
    for (const NodeId id : m_module.graph.order()) {
      const Node& node = m_module.graph.node(id);
      if (!isCall(node)) continue;
      const std::int64_t number = partOf(node);
      const auto [entry, isNew] = byNumber.try_emplace(number, m_parts.size());
      if (isNew) m_parts.push_back({.number = number, .nodes = {}, .inputs = {}, .outputs = {}, .after = {}});
      m_parts[entry->second].nodes.push_back(id);
      m_partOf[id] = entry->second;
    }
  }

  static void addOnce(std::vector<NodeId>& list, NodeId id) {
    if (std::ranges::find(list, id) == list.end()) list.push_back(id);
  }

  void connect() {
    std::set<std::size_t> seen;
    std::optional<std::size_t> ordered;  // part of the last node that all later ones follow
    for (const NodeId id : m_module.graph.order()) {
      const Node& node = m_module.graph.node(id);
      const auto own = m_partOf.find(id);
      for (const NodeId input : node.inputs()) connect(own == m_partOf.end() ? nullptr : &own->second, input);
      if (own == m_partOf.end()) continue;
      if (ordered) follow(own->second, *ordered);
      if (m_options.isOrdered && m_options.isOrdered(node)) {
        for (const std::size_t earlier : seen) follow(own->second, earlier);
        ordered = own->second;
      }
      seen.insert(own->second);
    }
  }

  void connect(const std::size_t* user, NodeId input) {
    const auto maker = m_partOf.find(input);
    if (user && maker != m_partOf.end() && maker->second == *user) return;
    if (user && !isAttribute(input)) addOnce(m_parts[*user].inputs, input);
    if (maker == m_partOf.end()) return;
    addOnce(m_parts[maker->second].outputs, input);
    if (user) follow(*user, maker->second);
  }

  void follow(std::size_t part, std::size_t earlier) {
    if (part != earlier) m_parts[part].after.insert(earlier);
  }

  /// Of those that may run next always the one that appeared first.
  Result<std::vector<std::size_t>> inOrder() const {
    std::vector<std::size_t> order;
    std::vector<bool> done(m_parts.size(), false);
    while (order.size() < m_parts.size()) {
      std::size_t next = 0;
      const auto mayRun = [&](std::size_t i) {
        return !done[i] && std::ranges::all_of(m_parts[i].after, [&](std::size_t earlier) { return done[earlier]; });
      };
      while (next < m_parts.size() && !mayRun(next)) ++next;
      if (next == m_parts.size()) return cycle(done);
      done[next] = true;
      order.push_back(next);
    }
    return order;
  }

  std::unexpected<Error> cycle(const std::vector<bool>& done) const {
    const auto first = std::size_t(std::ranges::find(done, false) - done.begin());
    const auto& after = m_parts[first].after;
    const std::size_t other = *std::ranges::find_if(after, [&](std::size_t part) { return !done[part]; });
    return fail(Error(ErrorCode::BadUsage,
                      fmt::format("part {} needs what part {} makes before, which needs part {} itself",
                                  m_parts[first].number, m_parts[other].number, m_parts[first].number),
                      {}, 0, m_module.graph.node(m_parts[first].nodes.front()).name()));
  }

  /// The node in the outer graph.
  void keep(Graph& outer, NodeId id) {
    if (!m_outer.contains(id))
      m_outer[id] = copyNode(outer, m_module.graph.node(id), [&](NodeId input) { return m_outer.at(input); });
  }

  std::string addCall(GraphModule& outer, const Part& part) {
    std::string path = fmt::format("{}{}", m_options.prefix, part.number);
    while (outer.submodule(path) || outer.attribute(path)) path += "_";
    ArgumentList args;
    for (const NodeId input : part.inputs) args.push_back(m_outer.at(input));
    outer.submodules.add(path, {std::make_shared<const GraphModule>(body(part)), {}});
    const NodeId call = outer.graph.callModule(path, std::move(args), {}, path);
    const bool isTuple = part.outputs.size() != 1;
    if (isTuple) {
      std::vector<ValueMeta> items;
      for (const NodeId output : part.outputs) items.push_back(m_module.graph.node(output).meta().value);
      outer.graph.setValueMeta(call, {std::move(items)});
    }
    for (std::size_t i = 0; i < part.outputs.size(); ++i) {
      const NodeId made = isTuple ? outer.graph.callFunction("operator.getitem", {call, std::int64_t(i)}) : call;
      outer.graph.setMeta(made, m_module.graph.node(part.outputs[i]).meta());
      m_outer[part.outputs[i]] = made;
    }
    return path;
  }

  GraphModule body(const Part& part) const {
    GraphModule body;
    body.className = m_module.className;
    body.attributes = m_module.attributes;
    body.submodules = m_module.submodules;
    body.symbolRanges = m_module.symbolRanges;
    NodeArguments map;
    for (const NodeId input : part.inputs) {
      const Node& node = m_module.graph.node(input);
      const NodeId copy = body.graph.placeholder(node.name());
      body.graph.setMeta(copy, node.meta());
      map[input] = copy;
    }
    const auto mapped = [&](NodeId id) { return map.at(id); };
    for (const NodeId id : part.nodes) {
      const Node& node = m_module.graph.node(id);
      for (const NodeId input : node.inputs())
        if (isAttribute(input) && !map.contains(input))
          map[input] = copyNode(body.graph, m_module.graph.node(input), mapped);
      map[id] = copyNode(body.graph, node, mapped);
    }
    ArgumentList outputs;
    for (const NodeId output : part.outputs) outputs.push_back(map.at(output));
    body.graph.output(outputs.size() == 1 ? outputs.front() : Argument::tuple(std::move(outputs)));
    deleteAllUnusedSubmodules(body);
    deleteAllUnusedAttributes(body);
    return body;
  }

  const GraphModule& m_module;
  const SplitOptions& m_options;
  std::vector<Part> m_parts;
  std::map<NodeId, std::size_t> m_partOf;
  NodeArguments m_outer;  ///< what stands for a node in the outer graph
};

}  // namespace

Result<SplitModule> splitModule(const GraphModule& module, const std::function<std::int64_t(const Node&)>& partOf,
                                const SplitOptions& options) {
  return Splitter(module, options).run(partOf);
}

Result<GraphModule> reassemble(const SplitModule& split) {
  const TraceRules rules{
      .isLeaf = [&](std::string_view path,
                    const Submodule&) { return std::ranges::find(split.parts, path) == split.parts.end(); },
      .concreteArguments = {},
      .keepsPaths = true};
  return symbolicTrace(split.module, rules);
}

}  // namespace kerf::inline ir
