#include "engine/capture/common/recorded_fusion.h"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "engine/capture/common/fusion_calls.h"

namespace kerf::inline capture {
namespace {

constexpr std::int64_t codeLimit = 64LL << 20;  ///< bytes of one program

constexpr std::array<std::string_view, 3> loweredStages = {"inductor_post_grad_graph", "after_post_grad_graph",
                                                           "fx_graph_transformed"};
/// Graphs of which the last before a program is the one it was made from.
constexpr std::array<std::string_view, 3> givenStages = {"before_post_grad_graph", "fx_graph_runnable",
                                                         "fx_graph_readable"};
struct AotStage {
  std::string_view stage, part;
};
constexpr std::array<AotStage, 3> aotStages = {AotStage{"aot_forward_graph", "forward"},
                                               AotStage{"aot_backward_graph", "backward"},
                                               AotStage{"aot_inference_graph", "inference"}};

template <class List>
bool isOneOf(const List& list, std::string_view text) {
  return std::ranges::find(list, text) != list.end();
}

/// Records of one compilation of one log, or of one graph's folder, belong together.
std::string placeOf(bool folders, const GraphOrigin& origin) {
  if (folders) return origin.file.parent_path().string();
  return fmt::format("{} {} {}", origin.file.string(), origin.rank, origin.compileId);
}

/// Everything that belongs together, in the order of the records.
struct Place {
  std::vector<std::size_t> records, groups;
};

class PartFinder {
 public:
  explicit PartFinder(const Capture& capture) : m_capture(capture), m_folders(capture.kind == "debug_dir") {
    const CaptureDetails& details = *capture.details;
    for (std::size_t i = 0; i < details.records.size(); ++i) {
      const std::string place = placeOf(m_folders, details.records[i].origin);
      m_places[place].records.push_back(i);
      if (isProgram(i)) m_programs.push_back(i);
    }
    for (std::size_t i = 0; i < details.fusionGroups.size(); ++i)
      m_places[placeOf(m_folders, details.fusionGroups[i].origin)].groups.push_back(i);
  }

  /// The parts of one compilation or folder; of all without one.
  std::vector<CompiledPart> run(const GraphOrigin* only) {
    std::vector<CompiledPart> parts;
    const std::string wanted = only == nullptr ? std::string() : placeOf(m_folders, *only);
    for (const std::size_t i : m_programs) {
      const std::string name = placeOf(m_folders, record(i).origin);
      if (only != nullptr && name != wanted) continue;
      CompiledPart part;
      part.code = i;
      auto text = record(i).text(codeLimit);
      const WrapperCode code = text ? readWrapperCode(*text) : WrapperCode();
      part.part = code.part;
      findGraphs(m_places.at(name), part);
      findGroups(m_places.at(name), code, part);
      parts.push_back(std::move(part));
    }
    return parts;
  }

 private:
  const CaptureRecord& record(std::size_t index) const { return m_capture.details->records[index]; }
  bool isProgram(std::size_t index) const {
    return record(index).kind == "inductor_output_code" && record(index).graph < 0;
  }

  /// Backwards from the program to the program before it.
  void findGraphs(const Place& place, CompiledPart& part) const {
    std::vector<std::string_view> seen;
    bool previous = false;
    for (auto at = place.records.rbegin(); at != place.records.rend(); ++at) {
      if (*at >= part.code) continue;
      previous = previous || record(*at).kind == "inductor_output_code";
      if (record(*at).graph < 0) continue;
      const auto graph = std::size_t(record(*at).graph);
      const std::string& stage = m_capture.graphs[graph].origin.stage;
      const auto aot = std::ranges::find(aotStages, stage, &AotStage::stage);
      const bool isAot = aot != aotStages.end() && aot->part == part.part;
      const bool isOwn = !previous && (isOneOf(loweredStages, stage) || isOneOf(givenStages, stage));
      if ((!isAot && !isOwn) || isOneOf(seen, stage)) continue;
      seen.push_back(stage);
      if (isOneOf(loweredStages, stage) && !part.lowered) part.lowered = graph;
      part.graphs.push_back(graph);
    }
  }

  void findGroups(const Place& place, const WrapperCode& code, CompiledPart& part) const {
    for (const std::size_t i : place.groups) {
      const RecordedFusionGroup& group = m_capture.details->fusionGroups[i];
      if (!group.kernel.empty() && isOf(group, place, part.code)) part.groups.push_back(group);
    }
    std::vector<char> joined(part.groups.size(), 0);
    for (RecordedFusionGroup& group : ofCode(code, part)) {
      const std::size_t known = knownGroup(part.groups, joined, group.kernel);
      if (known == joined.size()) {
        part.groups.push_back(std::move(group));
        joined.push_back(1);
        continue;
      }
      joined[known] = 1;
      RecordedFusionGroup& same = part.groups[known];
      std::tie(same.loads, same.stores) = std::tie(group.loads, group.stores);
      if (same.postGradNodes.empty())
        std::tie(same.postGradNodes, same.preGradNodes) = std::tie(group.postGradNodes, group.preGradNodes);
    }
  }

  /// The group of a call: by its whole name, else the next of its kernel where calls are not numbered.
  static std::size_t knownGroup(const std::vector<RecordedFusionGroup>& groups, const std::vector<char>& joined,
                                const std::string& call) {
    std::size_t next = groups.size();
    for (std::size_t i = groups.size(); i-- > 0;) {
      if (groups[i].kernel == call) return i;
      if (joined[i] == 0 && call.starts_with(groups[i].kernel + ":")) next = i;
    }
    return next;
  }

  std::vector<RecordedFusionGroup> ofCode(const WrapperCode& code, const CompiledPart& part) const {
    GraphModule lowered;
    if (part.lowered) {
      CapturedGraph graph = m_capture.graphs[*part.lowered];
      if (graph.ensureLoaded()) lowered = std::move(graph.module);
    }
    auto groups = groupsOfCalls(code, lowered.graph);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      groups[i].origin = record(part.code).origin;
      groups[i].origin.stage = "inductor_output_code";
      if (groups[i].origin.line > 0) groups[i].origin.line += code.calls[i].line - (m_folders ? 1 : 0);
    }
    return groups;
  }

  /// A log writes the maps of a program behind it, a folder beside it.
  bool isOf(const RecordedFusionGroup& group, const Place& place, std::size_t code) const {
    if (m_folders) return true;
    if (group.origin.line < record(code).origin.line) return false;
    const auto next = std::ranges::find_if(place.records, [&](std::size_t i) { return i > code && isProgram(i); });
    return next == place.records.end() || group.origin.line < record(*next).origin.line;
  }

  const Capture& m_capture;
  const bool m_folders;
  std::unordered_map<std::string, Place> m_places;
  std::vector<std::size_t> m_programs;
};

}  // namespace

std::vector<CompiledPart> compiledParts(const Capture& capture) {
  if (!capture.details) return {};
  return PartFinder(capture).run(nullptr);
}

std::vector<RecordedFusionGroup> recordedFusionGroups(const Capture& capture, const GraphOrigin* compilation) {
  std::vector<RecordedFusionGroup> groups;
  if (!capture.details) return groups;
  std::set<std::tuple<std::string, int, std::string>> known;
  const auto keyOf = [](const RecordedFusionGroup& group) {
    return std::tuple(group.origin.file.string(), group.origin.line, group.kernel);
  };
  for (CompiledPart& part : PartFinder(capture).run(compilation))
    for (RecordedFusionGroup& group : part.groups) {
      known.insert(keyOf(group));
      groups.push_back(std::move(group));
    }
  const bool folders = capture.kind == "debug_dir";
  for (const RecordedFusionGroup& group : capture.details->fusionGroups) {
    if (compilation != nullptr && placeOf(folders, group.origin) != placeOf(folders, *compilation)) continue;
    if (group.kernel.empty() || !known.contains(keyOf(group))) groups.push_back(group);
  }
  return groups;
}

Result<CompiledPart> compiledPartOf(const Capture& capture, std::size_t graph) {
  std::vector<CompiledPart> parts;
  if (capture.details) parts = PartFinder(capture).run(&capture.graphs[graph].origin);
  for (CompiledPart& part : parts) {
    const bool any =
        std::ranges::any_of(part.groups, [](const RecordedFusionGroup& group) { return !group.postGradNodes.empty(); });
    if (any && std::ranges::find(part.graphs, graph) != part.graphs.end()) return std::move(part);
  }
  return fail(
      ErrorCode::NotFound,
      "the capture has no recorded fusion groups for {}: they are in a TORCH_TRACE log or a TORCH_COMPILE_DEBUG "
      "folder of the compilation, for its forward, backward or inference graph",
      capture.graphs[graph].name);
}

}  // namespace kerf::inline capture
