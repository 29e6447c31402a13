// perform(RecordedCodeRequest): what PyTorch generated for a graph, with its lines linked to the graph's nodes.
#include <algorithm>
#include <map>
#include <set>

#include "app/workbench/captures/capture_source.h"
#include "app/workbench/captures/graph_source.h"
#include "engine/compilation/code_links.h"
#include "engine/compilation/compile_stages.h"
#include "engine/compilation/recorded_provenance.h"
#include "engine/diff/correspondence.h"

namespace kerf::workbench {

namespace {

constexpr std::int64_t codeLimit = 64LL << 20;  ///< bytes of one program

/// By names in the graph that was lowered: names in the graph that is looked at.
using NameMap = std::map<std::string, std::vector<std::string>, std::less<>>;

/// Where the comments do not say what a kernel stores: its nodes that others use.
void addStores(std::vector<RecordedFusionGroup>& groups, const Graph& lowered) {
  for (RecordedFusionGroup& group : groups) {
    if (!group.stores.empty()) continue;
    const std::set<std::string> inside(group.postGradNodes.begin(), group.postGradNodes.end());
    for (const std::string& name : group.postGradNodes) {
      const auto id = lowered.find(name);
      if (!id) continue;
      const bool leaves = std::ranges::any_of(lowered.node(*id).users(),
                                              [&](NodeId user) { return !inside.contains(lowered.node(user).name()); });
      if (leaves) group.stores.push_back(name);
    }
  }
}

CodeSpan::Kind kindOf(CodeLink::Kind kind) {
  constexpr CodeSpan::Kind kinds[] = {CodeSpan::Kind::Definition, CodeSpan::Kind::Access, CodeSpan::Kind::Call};
  return kinds[std::size_t(kind)];
}

class ProgramReader {
 public:
  ProgramReader(const Capture& capture, std::size_t graph)
      : m_capture(capture),
        m_parts(capture.details ? compiledParts(capture) : std::vector<CompiledPart>()),
        m_stages(compileStages(capture, m_parts, graph)) {
    for (const CompileStage& stage : m_stages) m_graphs.push_back(capture.graphs[stage.graph]);
    m_start = std::size_t(std::ranges::find(m_stages, graph, &CompileStage::graph) - m_stages.begin());
  }

  Result<std::vector<RecordedProgram>> read(const Job& job) {
    std::vector<RecordedProgram> programs;
    if (m_start == m_stages.size()) return programs;
    for (CompiledPart& part : m_parts) {
      if (!job.progress("reading the output code", double(programs.size()) / double(m_parts.size())))
        return fail(ErrorCode::Cancelled, "stopped");
      const auto base = baseOf(part);
      if (!base || !leadsTo(*base)) continue;
      RecordedProgram program{int(part.code), {}, part.part, {}, {}, {}};
      program.name = m_capture.details->records[part.code].name;
      if (auto text = m_capture.details->records[part.code].text(codeLimit))
        program.text = std::move(*text);
      else
        program.note = text.error().text();
      link(part, *base, program);
      programs.push_back(std::move(program));
    }
    std::ranges::stable_partition(programs, [](const RecordedProgram& each) { return each.part != "backward"; });
    return programs;
  }

 private:
  CapturedGraph& graphOf(std::size_t stage) { return m_graphs[stage]; }

  /// The stage whose nodes the groups name: that after the post-grad passes, or the last before it that there is.
  std::optional<std::size_t> baseOf(const CompiledPart& part) const {
    std::optional<std::size_t> base;
    for (std::size_t i = 0; i < m_stages.size(); ++i) {
      if (part.lowered && m_stages[i].graph == *part.lowered) return i;
      if (std::ranges::find(part.graphs, m_stages[i].graph) != part.graphs.end()) base = i;
    }
    return base;
  }

  /// Whether the graph came before the stage, or is it.
  bool leadsTo(std::size_t stage) const {
    if (stage == m_start) return true;
    for (std::optional<std::size_t> at = stage; at; at = m_stages[*at].parent)
      if (*at == m_start) return true;
    // A repro and a graph after it stand beside each other.
    return m_stages[m_start].part == m_stages[stage].part && !m_stages[stage].part.empty();
  }

  void link(CompiledPart& part, std::size_t base, RecordedProgram& program) {
    const auto loaded = graphOf(base).ensureLoaded(), shown = graphOf(m_start).ensureLoaded();
    if (!loaded || !shown) {
      program.note = (loaded ? shown : loaded).error().text();
      return;
    }
    addStores(part.groups, graphOf(base).module.graph);
    for (CodeLink& link : codeLinks(program.text, part.groups))
      program.spans.push_back(
          {kindOf(link.kind), link.first, link.last, std::move(link.kernel), std::move(link.nodes)});
    const NameMap names = namesFrom(base);
    for (CodeSpan& span : program.spans) span.nodes = translate(span.nodes, names);
    addSources(program);
    const bool linked = std::ranges::any_of(program.spans, [](const CodeSpan& span) { return !span.nodes.empty(); });
    if (!linked && program.note.empty())
      program.note =
          "the capture does not say which nodes the kernels compute: it has neither comments in the code nor "
          "provenance maps (INDUCTOR_PROVENANCE=1 records them)";
  }

  /// Back from the lowered graph, stage by stage.
  NameMap namesFrom(std::size_t base) {
    NameMap names;
    std::map<NodeId, std::set<NodeId>> origins;  ///< by node of the stage at hand: nodes of `base`
    const Graph& lowered = graphOf(base).module.graph;
    for (const NodeId id : lowered.order()) origins[id].insert(id);
    std::size_t at = base;
    while (at != m_start && m_stages[at].parent) {
      const std::size_t parent = *m_stages[at].parent;
      if (!graphOf(parent).ensureLoaded()) break;
      origins = before(parent, at, origins);
      at = parent;
    }
    const Graph& shown = graphOf(m_start).module.graph;
    if (at != m_start) return byName(lowered, shown);
    for (const NodeId id : shown.order())
      if (const auto found = origins.find(id); found != origins.end())
        for (const NodeId origin : found->second) names[lowered.node(origin).name()].push_back(shown.node(id).name());
    return names;
  }

  std::map<NodeId, std::set<NodeId>> before(std::size_t parent, std::size_t at,
                                            const std::map<NodeId, std::set<NodeId>>& origins) {
    const Graph &a = graphOf(parent).module.graph, &b = graphOf(at).module.graph;
    const Correspondence links(
        diffGraphs(a, b, recordedBetween(m_capture, m_stages[parent].graph, m_capture, m_stages[at].graph)));
    std::map<NodeId, std::set<NodeId>> earlier;
    for (const auto& [node, from] : origins)
      for (const auto& link : links.before(node)) earlier[link.node].insert(from.begin(), from.end());
    return earlier;
  }

  static NameMap byName(const Graph& lowered, const Graph& shown) {
    NameMap names;
    for (const NodeId id : lowered.order())
      if (shown.find(lowered.node(id).name())) names[lowered.node(id).name()].push_back(lowered.node(id).name());
    return names;
  }

  /// In the order of the graph, each once.
  std::vector<std::string> translate(const std::vector<std::string>& nodes, const NameMap& names) {
    std::set<std::string> found;
    for (const std::string& node : nodes)
      if (const auto here = names.find(node); here != names.end())
        found.insert(here->second.begin(), here->second.end());
    return ordered(found);
  }

  std::vector<std::string> ordered(const std::set<std::string>& names) {
    if (m_places.empty()) {
      const Graph& shown = graphOf(m_start).module.graph;
      for (const NodeId id : shown.order()) m_places.emplace(shown.node(id).name(), m_places.size());
    }
    std::vector<std::string> result(names.begin(), names.end());
    std::ranges::sort(result, {}, [this](const std::string& name) { return m_places.at(name); });
    return result;
  }

  /// A graph before AOTAutograd has the names that the comments give.
  void addSources(RecordedProgram& program) {
    const std::string& stage = m_capture.graphs[m_stages[m_start].graph].origin.stage;
    if (stage != "dynamo_output_graph" && stage.find("pre_grad") == std::string::npos) return;
    const Graph& shown = graphOf(m_start).module.graph;
    for (const CodeLink& source : sourceLinks(program.text)) {
      const auto same = std::ranges::find_if(program.spans, [&](const CodeSpan& span) {
        return span.kind == kindOf(source.kind) && span.first == source.first && span.last == source.last;
      });
      if (same == program.spans.end() || !same->nodes.empty()) continue;
      std::set<std::string> found;
      for (const std::string& name : source.nodes)
        if (shown.find(name)) found.insert(name);
      same->nodes = ordered(found);
    }
  }

  const Capture& m_capture;
  std::vector<CompiledPart> m_parts;
  std::vector<CompileStage> m_stages;
  std::vector<CapturedGraph> m_graphs;  ///< by stage; read when they are needed
  std::size_t m_start = 0;
  std::map<std::string, std::size_t> m_places;  ///< of the shown graph's nodes
};

}  // namespace

Result<std::vector<RecordedProgram>> perform(Workbench& bench, const RecordedCodeRequest& request, const Job& job) {
  if (request.graph < 0) {
    KERF_TRY(const auto named, resolveGraph(bench, {request.capture}, job));
    return ProgramReader(named.capture, named.index).read(job);
  }
  KERF_TRY(const auto source, openCapture(bench, request.capture, job));
  if (std::size_t(request.graph) >= source->capture.graphs.size())
    return fail(ErrorCode::NotFound, "{} has no graph number {}", request.capture, request.graph + 1);
  return ProgramReader(source->capture, std::size_t(request.graph)).read(job);
}

}  // namespace kerf::workbench
