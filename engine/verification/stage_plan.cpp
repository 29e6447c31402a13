#include "engine/verification/stage_plan.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/ranges.h>

#include "engine/verification/lifted_attributes.h"
#include "engine/verification/slots.h"

namespace kerf::inline verification {
namespace {

/// Stages whose part their name tells; that of the others their signature.
struct NamedStage {
  std::string_view stage;
  StagePart part;
};
constexpr NamedStage namedStages[] = {
    {"dynamo_output_graph", StagePart::Dynamo},  {"before_pre_grad_graph", StagePart::Dynamo},
    {"after_pre_grad_graph", StagePart::Dynamo}, {"aot_joint_graph", StagePart::Joint},
    {"aot_forward_graph", StagePart::Forward},   {"aot_backward_graph", StagePart::Backward},
    {"aot_inference_graph", StagePart::Whole},
};

constexpr std::string_view partNames[] = {"Dynamo", "joint", "whole", "forward", "backward"};

/// The order in which compiling makes a debug folder's files; a folder lists them otherwise.
constexpr std::string_view folderOrder[] = {"fx_graph_runnable", "fx_graph_readable", "fx_graph_transformed"};

bool hasTangents(const Graph& graph) {
  return std::ranges::any_of(graph.placeholders(), [&](NodeId id) { return isTangent(graph.node(id)); });
}

std::vector<std::string> placeholderNames(const Graph& graph) {
  std::vector<std::string> names;
  for (const NodeId id : graph.placeholders()) names.push_back(graph.node(id).name());
  return names;
}

/// Builds the plan of the graphs of one compilation.
class Planner {
 public:
  Planner(const Capture& capture, std::string compile) : m_capture(capture) { m_plan.compile = std::move(compile); }

  void add(std::size_t graph) {
    const auto& captured = m_capture.graphs[graph];
    const std::string& name = captured.origin.stage;
    if (name.starts_with("compiled_autograd_graph")) {
      m_plan.notes.push_back(captured.name + " is the autograd graph itself, which no other stage computes");
      return;
    }
    m_plan.stages.push_back({graph, captured.name, StagePart::Whole, {}, {}});
  }

  /// A graph that cannot be read keeps the others from nothing.
  void leaveOut(const CapturedGraph& graph, const Error& error) {
    m_plan.unread.push_back({graph.name, graph.origin.stage, error.text(), m_plan.stages.size()});
  }

  StagePlan finish() {
    for (auto& stage : m_plan.stages) stage.part = partOf(stage);
    if (const Stage* dynamo = first(StagePart::Dynamo)) m_attributes = liftedAttributes(module(*dynamo).graph);
    for (auto& stage : m_plan.stages) nameValues(stage);
    link();
    return std::move(m_plan);
  }

 private:
  const GraphModule& module(const Stage& stage) const { return m_capture.graphs[stage.graph].module; }
  const std::string& kind(const Stage& stage) const { return m_capture.graphs[stage.graph].origin.stage; }

  const Stage* first(StagePart part) const {
    const auto found = std::ranges::find(m_plan.stages, part, &Stage::part);
    return found == m_plan.stages.end() ? nullptr : &*found;
  }
  bool hasNamed(StagePart part) const {
    const auto isNamed = [&](const std::string& name) {
      const auto named = std::ranges::find(namedStages, name, &NamedStage::stage);
      return named != std::end(namedStages) && named->part == part;
    };
    return std::ranges::any_of(m_plan.stages, [&](const Stage& stage) { return isNamed(kind(stage)); }) ||
           std::ranges::any_of(m_plan.unread, isNamed, &UnreadStage::kind);
  }

  StagePart partOf(const Stage& stage) const {
    const auto named = std::ranges::find(namedStages, kind(stage), &NamedStage::stage);
    if (named != std::end(namedStages)) return named->part;
    const Graph& graph = module(stage).graph;
    if (!hasTangents(graph)) return hasNamed(StagePart::Forward) ? StagePart::Forward : StagePart::Whole;
    const auto names = placeholderNames(graph);
    const auto isJoint = [&](const Stage& other) {
      return kind(other) == "aot_joint_graph" && placeholderNames(module(other).graph) == names;
    };
    const bool namesJoint = kind(stage).find("joint") != std::string::npos;  // where the first one cannot be read
    return namesJoint || std::ranges::any_of(m_plan.stages, isJoint) ? StagePart::Joint : StagePart::Backward;
  }

  void nameValues(Stage& stage) {
    SlotContext context;
    if (const Stage* dynamo = first(StagePart::Dynamo); dynamo != nullptr) {
      context.outputs = returnedItems(module(*dynamo).graph).size();
      context.haveOutputs = true;
    }
    if (const Stage* backward = first(StagePart::Backward)) context.backward = &module(*backward).graph;
    const Stage* leader = first(stage.part);
    const auto& graph = module(stage).graph;
    stage.inputs = inputSlots(module(stage), stage.part, m_attributes);
    stage.outputs = outputSlots(module(stage), stage.part, context);
    if (leader == &stage || leader == nullptr) return;
    // Later stages of a part keep the order of its first one, which alone has descriptions.
    if (leader->inputs.size() == stage.inputs.size() &&
        placeholderNames(module(*leader).graph) == placeholderNames(graph))
      stage.inputs = leader->inputs;
    if (leader->outputs.size() == stage.outputs.size()) stage.outputs = leader->outputs;
  }

  void link() {
    std::map<StagePart, std::size_t> last;
    const auto follow = [&](std::size_t index, StagePart part) {
      if (last.contains(part)) m_plan.pairs.push_back({last[part], {index}});
      last[part] = index;
    };
    for (const StagePart part : {StagePart::Dynamo, StagePart::Joint, StagePart::Whole}) {
      if (part != StagePart::Dynamo && last.contains(StagePart::Dynamo) && first(part) != nullptr)
        last[part] = last[StagePart::Dynamo];
      followAll(part, follow);
    }
    linkForwardAndBackward(last);
    for (const StagePart part : {StagePart::Forward, StagePart::Backward}) followAll(part, follow);
  }

  void followAll(StagePart part, const std::function<void(std::size_t, StagePart)>& follow) const {
    for (std::size_t i = 0; i < m_plan.stages.size(); ++i)
      if (m_plan.stages[i].part == part) follow(i, part);
  }

  /// The first forward and backward graphs follow the joint graph together, or Dynamo's where there is none.
  void linkForwardAndBackward(std::map<StagePart, std::size_t>& last) {
    const Stage *forward = first(StagePart::Forward), *backward = first(StagePart::Backward);
    const auto indexOf = [&](const Stage* stage) { return std::size_t(stage - m_plan.stages.data()); };
    const auto before = last.find(last.contains(StagePart::Joint) ? StagePart::Joint : StagePart::Dynamo);
    if (before == last.end() || (forward == nullptr && before->first == StagePart::Dynamo)) return;
    std::vector<std::size_t> after;
    for (const Stage* stage : {forward, backward})
      if (stage != nullptr) after.push_back(indexOf(stage));
    if (!after.empty()) m_plan.pairs.push_back({before->second, after});
  }

  const Capture& m_capture;
  StagePlan m_plan;
  std::vector<std::string> m_attributes;  ///< of Dynamo's graph, which later graphs take as inputs
};

std::string withoutBrackets(std::string_view id) {
  std::string text(id);
  std::erase_if(text, [](char c) { return c == '[' || c == ']'; });
  return text;
}

/// What the graphs of one compilation have in common.
std::string groupOf(const Capture& capture, const CapturedGraph& graph) {
  if (capture.kind == "graph_transforms") return graph.origin.stage.substr(0, graph.origin.stage.rfind(' '));
  if (graph.origin.compileId.empty()) return graph.origin.file.parent_path().filename().string();
  return graph.origin.rank < 0 ? graph.origin.compileId
                               : fmt::format("{} of rank {}", graph.origin.compileId, graph.origin.rank);
}

struct Group {
  std::string name;
  std::vector<std::size_t> graphs;
};
std::vector<Group> groupsOf(const Capture& capture) {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < capture.graphs.size(); ++i) {
    const std::string name = groupOf(capture, capture.graphs[i]);
    auto found = std::ranges::find(groups, name, &Group::name);
    if (found == groups.end()) found = groups.insert(groups.end(), {name, {}});
    found->graphs.push_back(i);
  }
  const auto place = [&](std::size_t index) {
    const auto found = std::ranges::find(folderOrder, capture.graphs[index].origin.stage);
    return found - std::begin(folderOrder);
  };
  if (capture.kind == "debug_dir")
    for (auto& group : groups) std::ranges::stable_sort(group.graphs, {}, place);
  return groups;
}

/// Nested graphs that `later` only names (fx_graph_runnable writes "<lambda>()") are those of the stage before it.
bool lendNested(const GraphModule& earlier, GraphModule& later) {
  bool lent = false;
  for (auto& [path, submodule] : later.submodules.edit()) {
    const Submodule* known = earlier.submodule(path);
    if (submodule.graph || known == nullptr || !known->graph) continue;
    submodule.graph = known->graph;
    lent = true;
  }
  return lent;
}

void lendNested(Capture& capture, StagePlan& plan) {
  for (const StagePair& pair : plan.pairs) {
    if (pair.after.size() != 1) continue;
    const Stage &before = plan.stages[pair.before], &after = plan.stages[pair.after.front()];
    if (lendNested(capture.graphs[before.graph].module, capture.graphs[after.graph].module))
      plan.notes.push_back(
          fmt::format("{} leaves its nested graphs out; those of {} run in their place", after.name, before.name));
  }
  for (auto pair = plan.pairs.rbegin(); pair != plan.pairs.rend();
       ++pair) {  // a folder's first file has them from its next
    if (pair->after.size() != 1) continue;
    const Stage &before = plan.stages[pair->before], &after = plan.stages[pair->after.front()];
    if (lendNested(capture.graphs[after.graph].module, capture.graphs[before.graph].module))
      plan.notes.push_back(
          fmt::format("{} leaves its nested graphs out; those of {} run in their place", before.name, after.name));
  }
}

bool isDynamo(const CapturedGraph& graph) {
  const auto named = std::ranges::find(namedStages, graph.origin.stage, &NamedStage::stage);
  return named != std::end(namedStages) && named->part == StagePart::Dynamo;
}

/// Where later graphs take more inputs than Dynamo's, its attributes are among them.
void liftAttributesOf(Capture& capture, const Group& group) {
  std::size_t inputs = 0;
  for (const std::size_t index : group.graphs)
    if (!isDynamo(capture.graphs[index]) && !capture.graphs[index].pending) {
      const Graph& graph = capture.graphs[index].module.graph;
      const auto primals = graph.placeholders();
      const auto isPrimal = [&](NodeId id) { return !isTangent(graph.node(id)); };
      const bool isBackward = capture.graphs[index].origin.stage.find("backward") != std::string::npos;
      if (!isBackward) inputs = std::max(inputs, std::size_t(std::ranges::count_if(primals, isPrimal)));
    }
  for (const std::size_t index : group.graphs)
    if (isDynamo(capture.graphs[index]) && capture.graphs[index].module.graph.placeholders().size() < inputs)
      liftAttributes(capture.graphs[index]);
}

bool isChosen(const Group& group, std::string_view compile) {
  return compile.empty() || group.name == compile || withoutBrackets(group.name) == withoutBrackets(compile);
}

}  // namespace

std::string_view partName(StagePart part) { return partNames[std::size_t(part)]; }

ArgumentList returnedItems(const Graph& graph) {
  const NodeId output = graph.outputNode();
  if (!output.valid() || graph.node(output).args().empty()) return {};
  const Argument& value = graph.node(output).args().front();
  const ListArgument* list = value.asList();
  return list != nullptr ? list->items : ArgumentList{value};
}

Result<std::vector<StagePlan>> planStages(Capture& capture, std::string_view compile) {
  std::vector<StagePlan> plans;
  const auto groups = groupsOf(capture);
  for (const auto& group : groups) {
    if (!isChosen(group, compile)) continue;
    Planner planner(capture, group.name);
    for (const std::size_t graph : group.graphs) {
      if (const auto loaded = capture.graphs[graph].ensureLoaded(); loaded)
        planner.add(graph);
      else
        planner.leaveOut(capture.graphs[graph], loaded.error());
    }
    liftAttributesOf(capture, group);
    plans.push_back(planner.finish());
    lendNested(capture, plans.back());
  }
  if (!plans.empty()) return plans;
  if (groups.empty())
    return fail(ErrorCode::NotFound,
                "{} holds no graph, so there are no stages to compare: was the compile still running?",
                capture.path.string());
  std::vector<std::string> names;
  for (const auto& group : groups) names.push_back(group.name);
  return fail(ErrorCode::NotFound, "there is no compile id {}; there are: {}", compile, fmt::join(names, ", "));
}

Result<StagePlan> planAgainst(const CapturedGraph& before, const CapturedGraph& after) {
  StagePlan plan{before.name,
                 {{0, before.name, StagePart::Whole, {}, {}}, {1, after.name, StagePart::Whole, {}, {}}},
                 {{0, {1}}},
                 {}};
  auto names = placeholderNames(before.module.graph), others = placeholderNames(after.module.graph);
  if (names.size() != others.size())
    return fail(ErrorCode::ShapeMismatch, "{} takes {} inputs and {} takes {}", before.name, names.size(), after.name,
                others.size());
  auto sorted = names, sortedOthers = others;
  std::ranges::sort(sorted);
  std::ranges::sort(sortedOthers);
  plan.stages[0].inputs = names;
  plan.stages[1].inputs = sorted == sortedOthers ? others : names;
  const std::size_t count = returnedItems(before.module.graph).size(), other = returnedItems(after.module.graph).size();
  if (count != other)
    return fail(ErrorCode::ShapeMismatch, "{} returns {} values and {} returns {}", before.name, count, after.name,
                other);
  for (std::size_t i = 0; i < count; ++i) plan.stages[0].outputs.push_back(fmt::format("out:{}", i));
  plan.stages[1].outputs = plan.stages[0].outputs;
  return plan;
}

}  // namespace kerf::inline verification
