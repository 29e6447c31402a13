#include "engine/distributed/replay/minify_ranks.h"

#include <algorithm>
#include <set>

namespace kerf::inline distributed::inline replay {
namespace {

using NameSet = std::set<std::string>;

/// What becomes of a rank's graph.
struct RankCut {
  NameSet inputs;                       ///< calls that become inputs
  std::optional<NameSet> outputs = {};  ///< the results that stay, by the names of their nodes; none: all
};

std::vector<NodeId> resultsOf(const Graph& graph) {
  std::vector<NodeId> results;
  if (graph.outputNode().valid()) results = graph.node(graph.outputNode()).inputs();
  return results;
}

/// Whether an input may stand for it: what it gave is one tensor, which is known.
bool isReplaceable(const Node& node, const ValuesByCall& values) {
  if (node.op() != Opcode::CallFunction && node.op() != Opcode::CallMethod) return false;
  const auto found = values.find(node.name());
  return found != values.end() && found->second.isTensor();
}

class CutWriter {
 public:
  CutWriter(const RankProgram& program, const ValuesByCall& values, const RankCut& cut)
      : m_program(program), m_graph(program.module.graph), m_values(values), m_cut(cut) {}

  Result<RankProgram> write() {
    for (const NodeId result : resultsOf(m_graph))
      if (!m_cut.outputs || m_cut.outputs->contains(m_graph.node(result).name())) m_results.push_back(result);
    for (const NodeId result : m_results) need(result);
    m_made.module = m_program.module;
    m_made.module.graph = Graph();
    addInputs();
    for (const NodeId id : m_graph.order())
      if (m_needed.contains(id) && !m_map.contains(id)) copy(id);
    ArgumentList results;
    for (const NodeId result : m_results) results.emplace_back(m_map.at(result));
    m_made.module.graph.output(Argument::list(std::move(results)));
    KERF_CHECK(m_made.module.graph.lint());
    return std::move(m_made);
  }

 private:
  bool isInput(NodeId id) const {
    const Node& node = m_graph.node(id);
    return m_cut.inputs.contains(node.name()) && isReplaceable(node, m_values);
  }

  void need(NodeId start) {
    std::vector<NodeId> open{start};
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      if (!m_needed.insert(id).second || isInput(id)) continue;
      for (const NodeId input : m_graph.node(id).inputs()) open.push_back(input);
    }
  }

  void addInputs() {
    const auto placeholders = m_graph.placeholders();
    for (std::size_t i = 0; i < placeholders.size(); ++i)
      if (m_needed.contains(placeholders[i]))
        addInput(placeholders[i], i < m_program.inputs.size() ? m_program.inputs[i] : Value());
    for (const NodeId id : m_graph.order())
      if (m_needed.contains(id) && isInput(id)) addInput(id, m_values.at(m_graph.node(id).name()));
  }

  void addInput(NodeId id, const Value& value) {
    Graph& graph = m_made.module.graph;
    const std::string name = m_graph.node(id).name();
    m_map[id] = graph.createNamed(Opcode::Placeholder, name, {}, {}, name);
    graph.setMeta(m_map[id], m_graph.node(id).meta());
    m_made.inputs.push_back(value);
  }

  void copy(NodeId id) {
    Graph& graph = m_made.module.graph;
    const Node& node = m_graph.node(id);
    if (node.op() == Opcode::Output) return;
    const auto map = [&](NodeId input) { return Argument(m_map.at(input)); };
    ArgumentList args;
    for (const Argument& argument : node.args()) args.push_back(mapNodes(argument, map));
    KeywordArguments kwargs;
    for (const auto& [name, argument] : node.kwargs()) kwargs.emplace_back(name, mapNodes(argument, map));
    m_map[id] = graph.createNamed(node.op(), node.target(), std::move(args), std::move(kwargs), node.name());
    graph.setMeta(m_map[id], node.meta());
  }

  const RankProgram& m_program;
  const Graph& m_graph;
  const ValuesByCall& m_values;
  const RankCut& m_cut;
  RankProgram m_made;
  std::set<NodeId> m_needed;
  std::vector<NodeId> m_results;
  std::map<NodeId, NodeId> m_map;
};

class RankSearcher {
 public:
  RankSearcher(const std::vector<RankProgram>& start, const RanksOracle& oracle, const RanksSearch& how)
      : m_best(start), m_oracle(oracle), m_how(how) {}

  Result<SmallestRanks> run() {
    SmallestRanks result{.startNodes = calls()};
    KERF_TRY(m_failure, m_oracle(m_best));
    ++m_tests;
    if (m_failure.empty()) return fail(ErrorCode::BadInput, "the ranks do not fail");
    KERF_CHECK(record());
    bool isSmaller = true;
    while (isSmaller && mayGoOn()) {
      const std::size_t before = calls();
      KERF_CHECK(reduce(resultNames(), [](const NameSet& gone, const NameSet& all) {
        RankCut cut{{}, NameSet()};
        std::ranges::set_difference(all, gone, std::inserter(*cut.outputs, cut.outputs->end()));
        return cut;
      }));
      KERF_CHECK(addResults());
      KERF_CHECK(reduce(callNames(), [](const NameSet& inputs, const NameSet&) { return RankCut{inputs, {}}; }));
      isSmaller = calls() < before;
    }
    result.isMinimal = mayGoOn();
    result.nodes = calls();
    result.programs = std::move(m_best);
    result.failure = m_failure;
    result.tests = m_tests;
    return result;
  }

 private:
  bool mayGoOn() const { return m_tests < m_how.mostTests && !m_how.stop.stop_requested(); }

  /// Of the ranks.
  std::size_t calls() const {
    return callsOf(std::span(m_best).first(m_best.size() - (m_how.hasWhole && !m_best.empty() ? 1 : 0)));
  }

  /// Values of the graphs as they are, up to where they fail.
  Result<void> record() {
    if (m_how.values) {
      KERF_TRY(m_values, m_how.values(m_best));
      m_values.resize(m_best.size());
      return {};
    }
    m_values.assign(m_best.size(), {});
    const Replay replay = replayRanks(m_best, {.keepsNodes = true});
    for (std::size_t rank = 0; rank < m_best.size(); ++rank)
      for (const auto& [name, value] : replay.ranks[rank].nodes) m_values[rank].emplace(name, value);
    return {};
  }

  std::vector<std::string> namesOfResults(const RankProgram& program) const {
    std::vector<std::string> names;
    for (const NodeId id : resultsOf(program.module.graph)) names.push_back(program.module.graph.node(id).name());
    return names;
  }

  /// None where the ranks' results have other names than those of the whole graph: then they belong together by place.
  NameSet resultNames() const {
    NameSet names;
    for (const RankProgram& program : m_best)
      if (m_how.hasWhole && namesOfResults(program) != namesOfResults(m_best.back())) return {};
    for (const RankProgram& program : m_best)
      for (const NodeId id : resultsOf(program.module.graph)) names.insert(program.module.graph.node(id).name());
    return names;
  }

  NameSet callNames() const {
    NameSet names;
    for (std::size_t rank = 0; rank < m_best.size(); ++rank)
      for (const NodeId id : m_best[rank].module.graph.order())
        if (const Node& node = m_best[rank].module.graph.node(id); isReplaceable(node, m_values[rank]))
          names.insert(node.name());
    if (m_how.hasWhole) std::erase_if(names, [&](const std::string& name) { return !isCutByAll(name); });
    return names;
  }

  bool isCutByAll(const std::string& name) const {
    for (std::size_t i = 0; i < m_best.size(); ++i) {
      const auto id = m_best[i].module.graph.find(name);
      if (!id || !isReplaceable(m_best[i].module.graph.node(*id), m_values[i])) return false;
    }
    return true;
  }

  /// Whether the ranks still fail so; then they are the best.
  Result<bool> take(const std::function<RankCut(std::size_t rank)>& cutOf) {
    std::vector<RankProgram> made;
    for (std::size_t rank = 0; rank < m_best.size(); ++rank) {
      const RankCut cut = cutOf(rank);
      KERF_TRY(RankProgram own, CutWriter(m_best[rank], m_values[rank], cut).write());
      made.push_back(std::move(own));
    }
    ++m_tests;
    KERF_TRY(const std::string failure, m_oracle(made));
    if (failure != m_failure) return false;
    m_best = std::move(made);
    if (m_how.onStep) m_how.onStep(calls(), m_tests);
    return true;
  }

  /// The first call whose value already fails becomes the only result, where that is enough.
  Result<void> addResults() {
    const Graph& graph = m_best[0].module.graph;
    std::vector<std::string> names;
    for (const NodeId id : graph.order())
      if (const Node& node = graph.node(id); node.op() == Opcode::CallFunction || node.op() == Opcode::CallMethod)
        if (!m_how.hasWhole || isCutByAll(node.name())) names.push_back(node.name());
    std::size_t low = 0, high = names.size();  // the last call fails by what is there already
    while (low < high && mayGoOn()) {
      const std::size_t middle = (low + high) / 2;
      KERF_TRY(const bool fails, takeUpTo(names[middle]));
      if (fails)
        high = middle;
      else
        low = middle + 1;
    }
    return {};
  }

  /// Ranks that have no node of that name keep their results; beside a whole graph all of them have it.
  Result<bool> takeUpTo(const std::string& name) {
    const std::vector<RankProgram> before = m_best;
    for (RankProgram& program : m_best) {
      Graph& graph = program.module.graph;
      const auto node = graph.find(name);
      if (node) graph.setArgs(graph.outputNode(), {Argument::list({Argument(*node)})});
    }
    const auto taken = take([](std::size_t) { return RankCut{}; });
    if (!taken || !*taken) m_best = before;
    return taken;
  }

  /// Chunks of names, halved while none can go.
  Result<void> reduce(NameSet names, const std::function<RankCut(const NameSet& chunk, const NameSet& all)>& cutOf) {
    std::vector<std::string> left(names.begin(), names.end());
    for (std::size_t size = left.size(); size > 0 && mayGoOn();) {
      bool taken = false;
      for (std::size_t at = 0; at < left.size() && mayGoOn();) {
        const std::size_t end = std::min(at + size, left.size());
        const NameSet chunk(left.begin() + std::ptrdiff_t(at), left.begin() + std::ptrdiff_t(end));
        const NameSet all(left.begin(), left.end());
        const RankCut cut = cutOf(chunk, all);
        if (cut.outputs && cut.outputs->empty()) break;
        KERF_TRY(const bool fails, take([&](std::size_t) { return cut; }));
        if (fails)
          left.erase(left.begin() + std::ptrdiff_t(at), left.begin() + std::ptrdiff_t(end));
        else
          at = end;
        taken = taken || fails;
      }
      if (!taken || left.size() < size) size = std::min(size / 2, left.size());
    }
    return {};
  }

  std::vector<RankProgram> m_best;
  const RanksOracle& m_oracle;
  const RanksSearch& m_how;
  std::vector<ValuesByCall> m_values;
  std::string m_failure;
  int m_tests = 0;
};

}  // namespace

std::size_t callsOf(std::span<const RankProgram> programs) {
  std::size_t calls = 0;
  for (const RankProgram& program : programs)
    for (const NodeId id : program.module.graph.order()) {
      const Opcode op = program.module.graph.node(id).op();
      calls += op != Opcode::Placeholder && op != Opcode::Output && op != Opcode::GetAttr;
    }
  return calls;
}

Result<SmallestRanks> minifyRanks(const std::vector<RankProgram>& start, const RanksOracle& oracle,
                                  const RanksSearch& search) {
  return RankSearcher(start, oracle, search).run();
}

}  // namespace kerf::inline distributed::inline replay
