// How two captures of one program differ: their compilations, and of each its graphs, guards, kernels and figures.
#include <algorithm>
#include <map>
#include <span>

#include "app/workbench/captures/capture_source.h"
#include "app/workbench/graphs/module_comparison.h"
#include "app/workbench/stages/capture_findings.h"
#include "engine/compilation/compile_facts.h"
#include "engine/compilation/compile_pairs.h"
#include "engine/compilation/compile_stages.h"

namespace kerf::workbench {

namespace {

/// One of the two captures.
struct Side {
  explicit Side(const Capture& opened)
      : capture(opened),
        parts(opened.details ? compiledParts(opened) : std::vector<CompiledPart>()),
        compilations(compilationsOf(opened)) {}

  const Capture& capture;
  std::vector<CompiledPart> parts;
  std::vector<Compilation> compilations;
};

/// A graph of a compilation under what it is called in every run: its stage and part, and which of several it is.
struct NamedGraph {
  std::string name;
  std::size_t graph = 0;
};

std::vector<NamedGraph> graphsOf(const Side& side, const Compilation& compilation) {
  std::vector<NamedGraph> graphs;
  std::map<std::string, int> seen;
  if (compilation.graphs.empty()) return graphs;
  const auto stages = compileStages(side.capture, side.parts, compilation.graphs.front());
  const auto add = [&](std::size_t graph, const std::string& name) {
    const int count = ++seen[name];
    graphs.push_back({count == 1 ? name : fmt::format("{} ({})", name, count), graph});
  };
  for (const CompileStage& stage : stages) {
    const GraphOrigin& origin = side.capture.graphs[stage.graph].origin;
    const bool apart = stage.part == "forward" || stage.part == "backward";
    const bool says = origin.stage.find(stage.part) != std::string::npos;
    add(stage.graph, origin.stage + (apart && !says ? ", " + stage.part : ""));
  }
  for (const std::size_t graph : compilation.graphs)
    if (side.capture.graphs[graph].origin.stage.empty() &&
        std::ranges::find(graphs, graph, &NamedGraph::graph) == graphs.end())
      add(graph, side.capture.graphs[graph].name);
  return graphs;
}

std::vector<TextCount> countChanges(const TextCounts& before, const TextCounts& after) {
  std::map<std::string, TextCount> all;
  for (const auto& [text, count] : before) all[text].before = count;
  for (const auto& [text, count] : after) all[text].after = count;
  std::vector<TextCount> changes;
  for (auto& [text, count] : all)
    if (count.before != count.after) changes.push_back({text, count.before, count.after});
  return changes;
}

std::vector<TextCount> kernelChanges(const KernelFacts& before, const KernelFacts& after) {
  TextCounts mine, theirs;
  for (const auto& [name, fact] : before) mine[name] = fact.calls;
  for (const auto& [name, fact] : after) theirs[name] = fact.calls;
  auto changes = countChanges(mine, theirs);
  for (const auto& [name, fact] : before) {
    const auto other = after.find(name);
    if (other == after.end() || other->second.calls != fact.calls || other->second.bodies == fact.bodies) continue;
    const auto count = [](const KernelFact& a, const KernelFact& b) {
      return int(std::ranges::count_if(a.bodies, [&](const auto& body) { return !b.bodies.contains(body.first); }));
    };
    changes.push_back({name + " (other code)", count(fact, other->second), count(other->second, fact)});
  }
  return changes;
}

std::vector<FigureChange> figureChanges(const CompileEntry& before, const CompileEntry& after) {
  std::map<std::string, double> mine(before.metrics.begin(), before.metrics.end());
  std::vector<FigureChange> changes;
  for (const auto& [name, value] : after.metrics)
    if (const auto found = mine.find(name); found != mine.end() && found->second != value)
      changes.push_back({name, found->second, value});
  std::ranges::sort(changes, {}, &FigureChange::name);
  return changes;
}

/// Where patterns are matched: the first of these that both compilations have.
constexpr std::string_view patternStages[] = {"before_joint_graph", "aot_joint_graph", "aot_inference_graph",
                                              "before_post_grad_graph", "fx_graph_readable"};
/// After the post-grad passes: what kernels are made of.
constexpr std::string_view fusedStages[] = {"inductor_post_grad_graph", "after_post_grad_graph",
                                            "fx_graph_transformed"};
constexpr std::string_view loweredStages[] = {"aot_joint_graph", "aot_inference_graph"};

/// Two graphs of one stage, and what they are compared with.
struct GraphPair {
  std::size_t before = 0, after = 0;
  std::string stage;  ///< of the second
};

class CaptureComparison {
 public:
  CaptureComparison(const Capture& before, const Capture& after) : m_before(before), m_after(after) {}

  Result<CaptureDifference> run(const Job& job) {
    const auto pairs = pairedCompilations(m_before.compilations, m_after.compilations);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (!job.progress("comparing compilations", double(i) / double(pairs.size())))
        return fail(ErrorCode::Cancelled, "stopped");
      const auto [before, after] = pairs[i];
      m_difference.compiles.push_back(compare(before < 0 ? nullptr : &m_before.compilations[std::size_t(before)],
                                              after < 0 ? nullptr : &m_after.compilations[std::size_t(after)]));
    }
    sortFindings(m_difference.findings);
    m_difference.same =
        std::ranges::all_of(m_difference.compiles, [](const CompileDifference& compile) { return compile.same(); });
    return std::move(m_difference);
  }

 private:
  CompileDifference compare(const Compilation* before, const Compilation* after) {
    CompileDifference difference;
    const auto describe = [&](const Compilation& compilation, std::string& id, std::string& status) {
      id = compilation.id.empty() ? "graphs" : compilation.id;
      difference.frame = compilation.frame;
      if (compilation.entry != nullptr) status = compileStatusName(compilation.entry->status);
    };
    if (before != nullptr) describe(*before, difference.before, difference.statusBefore);
    if (after != nullptr) describe(*after, difference.after, difference.statusAfter);
    if (before != nullptr && after != nullptr) {
      compareGraphs(*before, *after, difference);
      if (before->entry != nullptr && after->entry != nullptr) {
        difference.guards =
            countChanges(guardsOf(m_before.capture, *before->entry), guardsOf(m_after.capture, *after->entry));
        difference.figures = figureChanges(*before->entry, *after->entry);
      }
    }
    addFindings(difference, "", compileFindings(difference));
    return difference;
  }

  void addFindings(const CompileDifference& compile, const std::string& graph, CaptureFindings findings) {
    for (CaptureFinding& finding : findings) {
      finding.compile = compile.after.empty() ? compile.before : compile.after;
      finding.graph = graph;
      m_difference.findings.push_back(std::move(finding));
    }
  }

  void compareGraphs(const Compilation& before, const Compilation& after, CompileDifference& difference) {
    const auto mine = graphsOf(m_before, before), theirs = graphsOf(m_after, after);
    std::vector<GraphPair> pairs;
    for (const NamedGraph& each : theirs) {
      const auto other = std::ranges::find(mine, each.name, &NamedGraph::name);
      difference.stages.push_back({.graph = each.name, .onlyAfter = other == mine.end()});
      if (other != mine.end())
        pairs.push_back({other->graph, each.graph, m_after.capture.graphs[each.graph].origin.stage});
    }
    m_patternStage = firstOf(patternStages, pairs);
    std::size_t next = 0;
    for (StageDifference& stage : difference.stages)
      if (!stage.onlyAfter) {
        compareGraph(pairs[next], next == 0, stage, difference);
        ++next;
      }
    for (const NamedGraph& each : mine)
      if (std::ranges::find(theirs, each.name, &NamedGraph::name) == theirs.end())
        difference.stages.push_back({.graph = each.name, .onlyBefore = true});
    if (before.graphs.empty() || after.graphs.empty()) return;
    compareDecompositions(pairs, difference);
    const auto kernels = [](const Side& side, std::size_t graph) {
      return kernelsOf(side.capture, side.parts, side.capture.graphs[graph].origin);
    };
    difference.kernels =
        kernelChanges(kernels(m_before, before.graphs.front()), kernels(m_after, after.graphs.front()));
  }

  /// The first stage of a list that there is a pair of; empty: none.
  static std::string_view firstOf(std::span<const std::string_view> stages, const std::vector<GraphPair>& pairs) {
    const auto there = [&](std::string_view stage) {
      return std::ranges::find(pairs, stage, &GraphPair::stage) != pairs.end();
    };
    const auto found = std::ranges::find_if(stages, there);
    return found == stages.end() ? std::string_view() : *found;
  }

  void compareGraph(const GraphPair& pair, bool first, StageDifference& stage, const CompileDifference& compile) {
    CapturedGraph a = m_before.capture.graphs[pair.before], b = m_after.capture.graphs[pair.after];
    for (CapturedGraph* graph : {&a, &b}) {
      if (auto loaded = graph->ensureLoaded(); !loaded) {
        stage.failure = loaded.error().text();
        return;
      }
    }
    stage.before = a.name;
    stage.after = b.name;
    const ModuleComparison comparison = compareModules(a.module, b.module);
    stage.difference = differenceOf(comparison);
    // Both texts and all rows of every graph would be the captures once more.
    stage.difference.text.clear();
    stage.difference.rows.clear();
    findIn(comparison, pair, first, stage, compile);
  }

  void findIn(const ModuleComparison& comparison, const GraphPair& pair, bool first, const StageDifference& stage,
              const CompileDifference& compile) {
    const auto add = [&](CaptureFindings findings) { addFindings(compile, stage.graph, std::move(findings)); };
    if (!stage.difference.same) {
      if (first) add(inputFindings(comparison));
      if (pair.stage == m_patternStage) add(patternFindings(comparison));
      if (pair.stage == "aot_backward_graph") add(savedFindings(comparison));
    }
    if (std::ranges::find(fusedStages, pair.stage) == std::end(fusedStages)) return;
    const auto mine = groupsOf(m_before, pair.before), theirs = groupsOf(m_after, pair.after);
    if (!mine.empty() && !theirs.empty()) add(fusionFindings(comparison, mine, theirs));
  }

  /// The fusion groups of the nodes of this graph: those of its part, or where the output code does not say whose they
  /// are, all of the compilation.
  static std::vector<RecordedFusionGroup> groupsOf(const Side& side, std::size_t graph) {
    const auto found = std::ranges::find(side.parts, std::optional(graph), &CompiledPart::lowered);
    const auto hasNodes = [](const RecordedFusionGroup& group) { return !group.postGradNodes.empty(); };
    if (found != side.parts.end() && std::ranges::any_of(found->groups, hasNodes)) return found->groups;
    return recordedFusionGroups(side.capture, &side.capture.graphs[graph].origin);
  }

  void compareDecompositions(const std::vector<GraphPair>& pairs, const CompileDifference& difference) {
    const auto program = std::ranges::find(pairs, std::string_view("dynamo_output_graph"), &GraphPair::stage);
    const auto lowered = std::ranges::find(pairs, firstOf(loweredStages, pairs), &GraphPair::stage);
    if (program == pairs.end() || lowered == pairs.end()) return;
    CapturedGraph graphs[] = {m_before.capture.graphs[program->before], m_before.capture.graphs[lowered->before],
                              m_after.capture.graphs[program->after], m_after.capture.graphs[lowered->after]};
    for (CapturedGraph& graph : graphs)
      if (!graph.ensureLoaded()) return;
    if (compareModules(graphs[1].module, graphs[3].module).same()) return;
    addFindings(difference, lowered->stage,
                decompositionFindings(graphs[0].module, graphs[1].module, graphs[2].module, graphs[3].module));
  }

  Side m_before, m_after;
  std::string_view m_patternStage;  ///< of the pair of compilations that is being compared
  CaptureDifference m_difference;
};

}  // namespace

Result<CaptureDifference> perform(Workbench& bench, const CaptureDiffRequest& request, const Job& job) {
  KERF_TRY(const auto before, openCapture(bench, request.before, job));
  KERF_TRY(const auto after, openCapture(bench, request.after, job));
  return CaptureComparison(before->capture, after->capture).run(job);
}

}  // namespace kerf::workbench
