// How two captures of one program differ: their compilations, and of each its graphs, guards, kernels and figures.
#include <algorithm>
#include <map>

#include "app/workbench/captures/capture_source.h"
#include "app/workbench/graphs/module_comparison.h"
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
    if (before == nullptr || after == nullptr) return difference;
    compareGraphs(*before, *after, difference);
    if (before->entry == nullptr || after->entry == nullptr) return difference;
    difference.guards =
        countChanges(guardsOf(m_before.capture, *before->entry), guardsOf(m_after.capture, *after->entry));
    difference.figures = figureChanges(*before->entry, *after->entry);
    return difference;
  }

  void compareGraphs(const Compilation& before, const Compilation& after, CompileDifference& difference) {
    const auto mine = graphsOf(m_before, before), theirs = graphsOf(m_after, after);
    for (const NamedGraph& each : theirs) {
      const auto other = std::ranges::find(mine, each.name, &NamedGraph::name);
      difference.stages.push_back({.graph = each.name, .onlyAfter = other == mine.end()});
      if (other != mine.end()) compareGraph(other->graph, each.graph, difference.stages.back());
    }
    for (const NamedGraph& each : mine)
      if (std::ranges::find(theirs, each.name, &NamedGraph::name) == theirs.end())
        difference.stages.push_back({.graph = each.name, .onlyBefore = true});
    if (before.graphs.empty() || after.graphs.empty()) return;
    const auto kernels = [](const Side& side, std::size_t graph) {
      return kernelsOf(side.capture, side.parts, side.capture.graphs[graph].origin);
    };
    difference.kernels =
        kernelChanges(kernels(m_before, before.graphs.front()), kernels(m_after, after.graphs.front()));
  }

  void compareGraph(std::size_t before, std::size_t after, StageDifference& stage) {
    CapturedGraph a = m_before.capture.graphs[before], b = m_after.capture.graphs[after];
    for (CapturedGraph* graph : {&a, &b}) {
      if (auto loaded = graph->ensureLoaded(); !loaded) {
        stage.failure = loaded.error().text();
        return;
      }
    }
    stage.before = a.name;
    stage.after = b.name;
    stage.difference = differenceOf(compareModules(a.module, b.module));
    // Both texts and all rows of every graph would be the captures once more.
    stage.difference.text.clear();
    stage.difference.rows.clear();
  }

  Side m_before, m_after;
  CaptureDifference m_difference;
};

}  // namespace

Result<CaptureDifference> perform(Workbench& bench, const CaptureDiffRequest& request, const Job& job) {
  KERF_TRY(const auto before, openCapture(bench, request.before, job));
  KERF_TRY(const auto after, openCapture(bench, request.after, job));
  return CaptureComparison(before->capture, after->capture).run(job);
}

}  // namespace kerf::workbench
