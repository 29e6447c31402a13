#include "engine/distributed/recorded/graph_cases.h"

#include "engine/distributed/group/in_process.h"
#include "engine/distributed/group/rank_kernels.h"
#include "engine/ir/interpreter.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::inline distributed::inline recorded {
namespace {

/// A graph out of its recorded nodes.
class GraphReader {
 public:
  Result<GraphModule> read(const Json& nodes) {
    for (const Json& node : nodes) KERF_CHECK(add(node));
    return std::move(m_module);
  }

 private:
  Result<Argument> argument(const Json& json) const {
    if (json.is_null()) return Argument();
    if (json.is_boolean()) return Argument(json.get<bool>());
    if (json.is_number_integer()) return Argument(json.get<std::int64_t>());
    if (json.is_number()) return Argument(json.get<double>());
    if (json.is_string()) return Argument(json.get<std::string>());
    if (json.is_array()) {
      ArgumentList items;
      for (const Json& item : json) {
        KERF_TRY(Argument one, argument(item));
        items.push_back(std::move(one));
      }
      return Argument::list(std::move(items));
    }
    if (json.contains("node")) {
      const auto found = m_nodes.find(json["node"].get<std::string>());
      if (found == m_nodes.end()) return fail(ErrorCode::BadInput, "no node {}", json["node"].dump());
      return Argument(found->second);
    }
    if (json.contains("dtype"))
      if (const auto dtype = dtypeFromTorchName(json["dtype"].get<std::string>())) return Argument(*dtype);
    if (json.contains("device")) return Argument(Device{"cpu", -1});
    if (json.contains("float")) return Argument(json["float"] == "inf" ? HUGE_VAL : -HUGE_VAL);
    return fail(ErrorCode::UnsupportedOp, "an argument of unknown kind: {}", json.dump().substr(0, 100));
  }

  Result<void> add(const Json& node) {
    const std::string name = node["name"].get<std::string>(), op = node["op"].get<std::string>();
    const std::string target = node.value("target", std::string());
    ArgumentList args;
    for (const Json& item : node.value("args", Json::array())) {
      KERF_TRY(Argument one, argument(item));
      args.push_back(std::move(one));
    }
    KeywordArguments kwargs;
    const Json keywords = node.value("kwargs", Json::object());
    for (auto entry = keywords.begin(); entry != keywords.end(); ++entry) {
      KERF_TRY(Argument one, argument(entry.value()));
      kwargs.emplace_back(entry.key(), std::move(one));
    }
    Graph& graph = m_module.graph;
    if (op == "placeholder") {
      m_nodes[name] = graph.placeholder(name);
    } else if (op == "output") {
      graph.output(args.empty() ? Argument() : std::move(args[0]));
    } else if (op == "call_function") {
      const bool isOperator = target.starts_with("_operator.");
      m_nodes[name] = graph.callFunction(isOperator ? target.substr(1) : "torch.ops." + target, std::move(args),
                                         std::move(kwargs), name);
    } else if (op == "get_attr") {
      KERF_CHECK(addConstant(node, name, target));
    } else {
      return fail(ErrorCode::UnsupportedOp, "a node of kind {}", op);
    }
    return {};
  }

  /// Constants are recorded without their values: AOTAutograd lifts those with one element, the zeros that masks write.
  Result<void> addConstant(const Json& node, const std::string& name, const std::string& target) {
    const Json val = node.value("val", Json::object());
    const auto dtype = dtypeFromTorchName(val.value("dtype", std::string()));
    if (!dtype || !val.contains("shape") || !val["shape"].empty())
      return fail(ErrorCode::UnsupportedOp, "the value of constant {} is not recorded", name);
    KERF_TRY(Tensor zero, Tensor::zeros(*dtype, {}));
    if (m_module.attribute(target) == nullptr) m_module.attributes.add(target, {std::move(zero), false, {}});
    m_nodes[name] = m_module.graph.getAttr(target, name);
    return {};
  }

  GraphModule m_module;
  std::map<std::string, NodeId> m_nodes;
};

/// A saved tensor with the strides that it had.
Result<Value> savedValue(const std::string& id, const Json& json, const SavedTensors& tensors) {
  if (json.contains("value")) return readValue(json["value"], {});
  const Json key = json.value("key", Json());
  const Tensor* saved = key.is_string() ? tensors.find(id + "." + key.get<std::string>()) : nullptr;
  if (saved == nullptr) return fail(ErrorCode::NotFound, "{}: no tensor {}", id, key.dump());
  KERF_TRY(const Sizes strides, readSizes(json["stride"]));
  KERF_TRY(Tensor tensor, Tensor::zerosStrided(saved->dtype(), saved->sizes(), strides));
  KERF_CHECK(callOp("aten.copy_.default"_op, {tensor, *saved}));
  return Value(std::move(tensor));
}

struct GraphRun {
  std::string id, where;
  std::vector<Json> nodes;  ///< by rank
  std::vector<Json> runs;   ///< by rank: inputs and outputs
  std::vector<std::vector<Group>> groups;
};

Result<void> runRank(const GraphRun& run, Communicator& link, const SavedTensors& tensors, ValueList& outputs) {
  const auto rank = std::size_t(link.rank());
  KERF_TRY(const GraphModule module, GraphReader().read(run.nodes[rank]));
  ValueList inputs;
  for (const Json& input : run.runs[rank]["inputs"]) {
    KERF_TRY(Value value, savedValue(run.id, input, tensors));
    inputs.push_back(std::move(value));
  }
  RankKernels kernels(link, run.groups[rank]);
  const RankLink::Scope scope(kernels);
  KERF_TRY(const Value result, Interpreter(module, referenceOps()).run(inputs));
  outputs = result.isList() ? result.list() : ValueList{result};
  return {};
}

std::string outputsDifference(const GraphRun& run, std::size_t rank, const ValueList& own,
                              const SavedTensors& tensors) {
  const Json& asked = run.runs[rank]["outputs"];
  if (own.size() != asked.size())
    return fmt::format("rank {}: {} results instead of {}", rank, own.size(), asked.size());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (asked[i].is_null()) continue;
    const auto expected = savedValue(run.id, asked[i], tensors);
    if (!expected || expected->isNone()) continue;
    if (const std::string text = difference(own[i], *expected); !text.empty())
      return fmt::format("rank {}, result {}: {}", rank, i, text);
  }
  return {};
}

std::vector<Group> groupsOf(const Json& rank) {
  std::vector<Group> groups;
  for (const Json& json : rank.value("process_groups", Json::array())) {
    Group group{json["name"].get<std::string>(), {}};
    for (const Json& member : json["ranks"]) group.ranks.push_back(member.get<int>());
    groups.push_back(std::move(group));
  }
  return groups;
}

void checkRun(const GraphRun& run, const SavedTensors& tensors, RanksReport& report) {
  const auto ranks = run.nodes.size();
  std::vector<ValueList> outputs(ranks);
  const auto results = report.world.run(int(ranks), [&](Communicator& link) -> Result<void> {
    return runRank(run, link, tensors, outputs[std::size_t(link.rank())]);
  });
  const Result<void> ran = firstCause(results);
  std::string text = ran ? std::string() : "fails: " + ran.error().text();
  for (std::size_t r = 0; r < ranks && text.empty(); ++r) text = outputsDifference(run, r, outputs[r], tensors);
  report.note(run.id, RanksField::Values, text.empty() ? "" : run.where + ": " + text);
}

/// The rank's graph of that kind and index; null where it has none.
const Json* findGraph(const Json& rank, const Json& like) {
  for (const Json& graph : rank["graphs"])
    if (graph["kind"] == like["kind"] && graph["index"] == like["index"]) return &graph;
  return nullptr;
}

}  // namespace

Result<void> checkGraphCase(const Json& line, const SavedTensors& tensors, RanksReport& report) {
  ++report.cases;
  const Json& ranks = line["ranks"];
  for (const Json& first : ranks[0]["graphs"]) {
    const std::size_t runs = first.value("runs", Json::array()).size();
    for (std::size_t k = 0; k < runs; ++k) {
      GraphRun run{line["id"].get<std::string>(),
                   fmt::format("{} {}, run {}", first["kind"].get<std::string>(), first["index"].get<int>(), k),
                   {},
                   {},
                   {}};
      for (const Json& rank : ranks) {
        const Json* own = findGraph(rank, first);
        if (own == nullptr || k >= (*own)["runs"].size()) break;
        run.nodes.push_back(nodesOf(*own, first));
        run.runs.push_back((*own)["runs"][k]);
        run.groups.push_back(groupsOf(rank));
      }
      if (run.nodes.size() == ranks.size() && !run.runs[0].value("outputs", Json()).is_null())
        checkRun(run, tensors, report);
    }
  }
  return {};
}

}  // namespace kerf::inline distributed::inline recorded
