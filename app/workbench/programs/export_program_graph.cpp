// torch.export of a program: Dynamo's graph as ATen calls without writes, with inputs and outputs as the program says.
#include <map>

#include <nlohmann/json.hpp>

#include "app/workbench/programs/program_runs.h"
#include "engine/autograd/aot_graph.h"
#include "engine/capture/text/capture.h"
#include "engine/ir/printer.h"
#include "engine/support/read_json.h"

namespace kerf::workbench {

namespace {

using nlohmann::json;

/// The traced graph's nodes in a graph of their own, whose inputs are those of the exported program.
class ExportedGraph {
 public:
  ExportedGraph(const AotGraph& traced, const json& wanted)
      : m_traced(traced), m_wanted(wanted), m_placeholders(traced.module.graph.placeholders()) {}

  Result<std::string> make() {
    KERF_CHECK(addInputs());
    KERF_CHECK(addSymbols());
    addCalls();
    KERF_CHECK(addOutput());
    GraphModule module;
    module.graph = std::move(m_graph);
    module.submodules = m_traced.module.submodules;
    PythonCodeOptions options;
    options.annotateValues = options.includeStride = options.includeDevice = true;
    return json({{"text", printReadable(module, options)},
                 {"outputs", m_names},
                 {"mutated", m_traced.metadata.mutatedInputs}})
        .dump(-1, ' ', false, json::error_handler_t::replace);
  }

 private:
  const Node& before(NodeId id) const { return m_traced.module.graph.node(id); }

  /// [placeholder, name]
  Result<void> addInputs() {
    for (const json& input : m_wanted.at("inputs")) {
      const auto at = input.at(0).get<std::size_t>();
      const auto name = input.at(1).get<std::string>();
      if (at >= m_placeholders.size()) return fail(ErrorCode::Internal, "the exported graph has no input {}", at);
      const NodeId made = m_graph.createNode(Opcode::Placeholder, name, {}, {}, name);
      m_graph.setMeta(made, before(m_placeholders[at]).meta());
      m_map[m_placeholders[at].index] = made;
      m_inputs.push_back(made);
    }
    return {};
  }

  /// [placeholder, input, dim]: a symbol is the size of an input.
  Result<void> addSymbols() {
    for (const json& symbol : m_wanted.at("symbols")) {
      const auto at = symbol.at(0).get<std::size_t>(), input = symbol.at(1).get<std::size_t>();
      if (at >= m_placeholders.size() || input >= m_inputs.size())
        return fail(ErrorCode::Internal, "the exported graph has no symbol {}", at);
      if (before(m_placeholders[at]).users().empty()) continue;
      const NodeId made = m_graph.createNode(Opcode::CallFunction, "torch.ops.aten.sym_size.int",
                                             {Argument(m_inputs[input]), Argument(symbol.at(2).get<std::int64_t>())},
                                             {}, "sym_size_int");
      m_graph.setMeta(made, before(m_placeholders[at]).meta());
      m_map[m_placeholders[at].index] = made;
    }
    return {};
  }

  Argument mapped(const Argument& argument) const {
    return mapNodes(argument, [this](NodeId id) -> Argument {
      const auto found = m_map.find(id.index);
      return found == m_map.end() ? Argument() : Argument(found->second);
    });
  }

  void addCalls() {
    const Graph& graph = m_traced.module.graph;
    for (const NodeId id : graph.order()) {
      const Node& node = graph.node(id);
      if (node.op() == Opcode::Placeholder || node.op() == Opcode::Output) continue;
      ArgumentList args;
      for (const Argument& argument : node.args()) args.push_back(mapped(argument));
      KeywordArguments kwargs;
      for (const auto& [name, argument] : node.kwargs()) kwargs.emplace_back(name, mapped(argument));
      const NodeId made = m_graph.createNode(node.op(), node.target(), std::move(args), std::move(kwargs), node.name());
      m_graph.setMeta(made, node.meta());
      m_map[id.index] = made;
    }
  }

  /// Values of changed inputs, then what the program asks for: ["output", k], ["input", k] or ["constant", number].
  Result<void> addOutput() {
    const Node& output = before(m_traced.module.graph.outputNode());
    const Argument all = mapped(output.args()[0]);
    const auto* list = all.asList();
    ArgumentList items(list != nullptr ? ArgumentList(list->items.begin(), list->items.end()) : ArgumentList{all});
    ArgumentList made;
    for (std::size_t k = 0; k < m_traced.mutatedOutputs && k < items.size(); ++k) made.push_back(items[k]);
    for (const json& wanted : m_wanted.at("outputs")) {
      const auto kind = wanted.at(0).get<std::string>();
      if (kind == "constant") {
        made.push_back(constant(wanted.at(1)));
        continue;
      }
      const auto at = wanted.at(1).get<std::size_t>();
      const std::size_t place = at + m_traced.mutatedOutputs;
      if (kind == "input" ? at >= m_inputs.size() : place >= items.size())
        return fail(ErrorCode::Internal, "the exported graph has no {} {}", kind, at);
      made.push_back(kind == "input" ? Argument(m_inputs[at]) : items[place]);
    }
    for (const Argument& item : made) {
      const NodeId* node = item.as<NodeId>();
      m_names.push_back(node != nullptr ? m_graph.node(*node).name()
                                        : printArgument(m_graph, item, ArgumentStyle::Python));
    }
    m_graph.output(Argument::tuple(std::move(made)));
    return {};
  }

  static Argument constant(const json& value) {
    if (value.is_boolean()) return value.get<bool>();
    if (value.is_number_integer()) return value.get<std::int64_t>();
    if (value.is_number()) return value.get<double>();
    return value.is_string() ? Argument(value.get<std::string>()) : Argument();
  }

  const AotGraph& m_traced;
  const json& m_wanted;
  const std::vector<NodeId> m_placeholders;
  Graph m_graph;
  std::vector<NodeId> m_inputs;
  std::map<std::uint32_t, NodeId> m_map;
  std::vector<std::string> m_names;
};

Result<std::string> exported(const json& wanted) {
  KERF_TRY(CapturedGraph captured, capturedFromReadable(wanted.at("text").get<std::string>(), GraphOrigin{}));
  KERF_CHECK(captured.ensureLoaded());
  KERF_CHECK(captured.annotateShapes());
  AotOptions options;
  options.stage = AotStage::Functional;
  options.keepsMutations = false;
  KERF_TRY(const AotGraph traced, aotTrace(captured.module, plainInputs(captured.module), options));
  return ExportedGraph(traced, wanted).make();
}

}  // namespace

Result<std::string> exportProgramGraph(const std::string& request) {
  try {
    const json tree = readJson<json>(request);
    if (tree.is_discarded()) return fail(ErrorCode::BadInput, "a request for an exported graph {}", whyNoJson(request));
    return exported(tree);
  } catch (const json::exception& error) {
    return fail(ErrorCode::Internal, "a request for an exported graph cannot be read: {}", error.what());
  }
}

}  // namespace kerf::workbench
