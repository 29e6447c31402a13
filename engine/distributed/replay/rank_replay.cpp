#include "engine/distributed/replay/rank_replay.h"

#include <algorithm>
#include <map>

#include "engine/distributed/group/rank_kernels.h"
#include "engine/ir/interpreter.h"
#include "engine/ops/core/op_registry.h"
#include "engine/ops/random/state.h"

namespace kerf::inline distributed::inline replay {
namespace {

/// What a call says of its process group.
struct NamedGroup {
  std::string name;
  std::optional<std::int64_t> size;
};

/// Groups with their members, and which call says that one has another size.
struct FoundGroups {
  std::map<std::string, Group> groups;
  std::string wrong;  ///< empty: none
  int wrongRank = -1;
};

/// The argument of that name of a call; null where there is none.
const Argument* argumentNamed(const Node& node, const OpInfo& op, std::string_view name) {
  for (const auto& [keyword, value] : node.kwargs())
    if (keyword == name) return &value;
  for (std::size_t i = 0; i < op.schema.arguments.size() && i < node.args().size(); ++i)
    if (op.schema.arguments[i].name == name) return &node.args()[i];
  return nullptr;
}

std::optional<NamedGroup> groupOfCall(const Node& node) {
  if (node.op() != Opcode::CallFunction || node.target().find("c10d") == std::string::npos) return std::nullopt;
  const OpInfo* op = findOp(node.target());
  if (op == nullptr) return std::nullopt;
  const Argument* name = argumentNamed(node, *op, "group_name");
  const auto* text = name != nullptr ? name->as<std::string>() : nullptr;
  if (text == nullptr) return std::nullopt;
  NamedGroup group{*text, std::nullopt};
  if (const Argument* size = argumentNamed(node, *op, "group_size"))
    if (const auto* number = size->as<std::int64_t>()) group.size = *number;
  return group;
}

Result<ValueList> copiesOf(const ValueList& inputs) {
  ValueList copies;
  for (const Value& input : inputs) {
    if (!input.isTensor()) {
      copies.push_back(input);
      continue;
    }
    KERF_TRY(Tensor copy, input.tensor().clone());
    copies.emplace_back(std::move(copy));
  }
  return copies;
}

Result<Value> interpreted(const RankProgram& program, const ValueList& inputs, const NodeWatch& watch) {
  Interpreter run(program.module, referenceOps());
  if (watch)
    run.onNode = [&](const Node& node, const Value& value) {
      if (node.op() != Opcode::Placeholder && node.op() != Opcode::Output) watch(node, value);
    };
  return run.run(inputs);
}

/// A copy: later nodes may write into it.
Value keptValue(const Value& value) {
  if (!value.isTensor()) return value;
  auto copy = value.tensor().clone();
  return copy ? Value(std::move(*copy)) : Value();
}

}  // namespace

namespace {

using GroupVisit = std::function<void(int rank, const Node&, const NamedGroup&)>;

void eachNamedGroup(const std::vector<RankProgram>& programs, const GroupVisit& visit) {
  for (std::size_t rank = 0; rank < programs.size(); ++rank) {
    const Graph& graph = programs[rank].module.graph;
    for (const NodeId id : graph.order())
      if (const auto named = groupOfCall(graph.node(id))) visit(int(rank), graph.node(id), *named);
  }
}

FoundGroups findGroups(const std::vector<RankProgram>& programs) {
  FoundGroups found;
  eachNamedGroup(programs, [&](int rank, const Node&, const NamedGroup& named) {
    Group& group = found.groups[named.name];
    group.name = named.name;
    if (group.indexOf(rank) < 0) group.ranks.push_back(rank);
  });
  found.groups["0"] = worldGroup(int(programs.size()));
  eachNamedGroup(programs, [&](int rank, const Node& node, const NamedGroup& named) {
    const Group& group = found.groups[named.name];
    if (!found.wrong.empty() || !named.size || *named.size == group.size()) return;
    found.wrongRank = rank;
    found.wrong = fmt::format("node {}: group '{}' has {} ranks in this call, and {} graphs name it (of the ranks {})",
                              node.name(), named.name, *named.size, group.size(), fmt::join(group.ranks, ", "));
  });
  return found;
}

std::vector<std::vector<Group>> groupsByRank(const FoundGroups& found, std::size_t ranks) {
  std::vector<std::vector<Group>> result(ranks);
  for (const auto& [name, group] : found.groups)
    for (const int rank : group.ranks) result[std::size_t(rank)].push_back(group);
  return result;
}

}  // namespace

Result<std::vector<std::vector<Group>>> groupsNamedBy(const std::vector<RankProgram>& programs) {
  const FoundGroups found = findGroups(programs);
  if (!found.wrong.empty()) return fail(ErrorCode::BadInput, "rank {}: {}", found.wrongRank, found.wrong);
  return groupsByRank(found, programs.size());
}

Replay replayRanks(const std::vector<RankProgram>& programs, const ReplayOptions& options, const RankRunner& runner) {
  Replay replay;
  replay.ranks.resize(programs.size());
  std::vector<std::vector<Group>> groups = options.groups;
  if (groups.empty()) {
    const FoundGroups found = findGroups(programs);
    if (!found.wrong.empty()) {
      replay.ran = fail(ErrorCode::BadInput, "{}", found.wrong);
      replay.failedRank = found.wrongRank;
      return replay;
    }
    groups = groupsByRank(found, programs.size());
  }
  const auto body = [&](Communicator& link) -> Result<void> {
    const auto rank = std::size_t(link.rank());
    ReplayedRank& own = replay.ranks[rank];
    const RandomScope random;
    RankKernels kernels(link, groups[rank]);
    const RankLink::Scope scope(kernels);
    NodeWatch watch;
    if (options.keepsNodes)
      watch = [&](const Node& node, const Value& value) { own.nodes.emplace_back(node.name(), keptValue(value)); };
    KERF_TRY(const ValueList inputs, copiesOf(programs[rank].inputs));
    KERF_TRY(const Value result, runner ? runner(rank, inputs, watch) : interpreted(programs[rank], inputs, watch));
    own.outputs = result.isList() ? result.list() : ValueList{result};
    return {};
  };
  const int ranks = int(programs.size());
  const auto results = options.start ? options.start(ranks, body) : runRanks(ranks, body, {.timeout = options.timeout});
  replay.ran = firstCause(results);
  for (std::size_t rank = 0; rank < results.size() && !replay.ran; ++rank)
    if (!results[rank] && results[rank].error().message == replay.ran.error().message) {
      replay.failedRank = int(rank);
      break;
    }
  return replay;
}

}  // namespace kerf::inline distributed::inline replay
