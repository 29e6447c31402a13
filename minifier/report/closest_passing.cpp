#include "minifier/report/closest_passing.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "engine/capture/common/tensor_literal.h"
#include "engine/ir/printer.h"
#include "minifier/core/safe_building.h"

namespace kerf::inline minifier::inline report {

namespace {

/// Larger graphs are far from minimal: no edit of them is the difference that matters, and each costs a copy.
constexpr std::size_t largestGraph = 64;
constexpr std::size_t editsPerReduction = 64;
constexpr std::int64_t elementsShown = 16;

struct Neighbour {
  PassingNeighbour passing;
  std::size_t distance = 0;  ///< lines that only one of both has
};

std::multiset<std::string> linesOf(const std::string& text) {
  std::multiset<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.insert(std::move(line));
  return lines;
}

std::size_t distance(const std::multiset<std::string>& a, const std::multiset<std::string>& b) {
  std::vector<std::string> different;
  std::ranges::set_symmetric_difference(a, b, std::back_inserter(different));
  return different.size();
}

std::string tensorText(const Tensor& tensor) {
  if (tensor.numel() <= elementsShown && tensor.device() == Device{})
    if (const auto dense = tensor.contiguous()) return tensorLiteral(*dense);
  return fmt::format("{}, strides ({})", tensor.numel() == 1 ? "1 element" : fmt::format("{} elements", tensor.numel()),
                     fmt::join(tensor.strides(), ", "));
}

std::string inputText(const Node& placeholder, const Value& value) {
  if (value.isTensor()) {
    const Tensor& tensor = value.tensor();
    return fmt::format("# {}: {}[{}] = {}\n", placeholder.name(), dtypeInfo(tensor.dtype()).shortCode,
                       fmt::join(tensor.sizes(), ", "), tensorText(tensor));
  }
  const auto* number = value.as<std::int64_t>();
  return fmt::format("# {} = {}\n", placeholder.name(), number != nullptr ? fmt::to_string(*number) : "None");
}

/// Everything that one edit makes, near ones first, each once.
std::vector<Neighbour> neighboursOf(const Candidate& failing, std::span<const Reduction> reductions,
                                    std::stop_token stop) {
  const std::string text = candidateText(failing);
  const auto lines = linesOf(text);
  std::set<std::string> seen{text};
  std::vector<Neighbour> all;
  SafeBuilding safe(stop);
  for (const Reduction& reduction : reductions) {
    if (!reduction.edits || reduction.isShortcut || stop.stop_requested()) continue;
    const ReductionInput input{failing, stop};  // edits refer to it until they are built
    const auto edits = safe.edits(reduction, input, {});
    for (std::size_t i = 0; i < std::min(edits.size(), editsPerReduction); ++i) {
      auto candidate = safe.build(reduction.name, edits[i].build);
      if (!candidate) continue;
      std::string its = candidateText(*candidate);
      const std::size_t far = distance(lines, linesOf(its));
      if (seen.insert(std::move(its)).second)
        all.push_back({{std::move(*candidate), reduction.name, reduction.description}, far});
    }
  }
  std::ranges::stable_sort(all, {}, &Neighbour::distance);
  return all;
}

}  // namespace

std::string candidateText(const Candidate& candidate) {
  const Graph& graph = candidate.module.graph;
  const auto placeholders = graph.placeholders();
  std::string text;
  for (std::size_t i = 0; i < std::min(placeholders.size(), candidate.inputs.size()); ++i)
    text += inputText(graph.node(placeholders[i]), candidate.inputs[i]);
  for (const auto& [name, attribute] : candidate.module.attributes)
    text += fmt::format("# self.{} = {}\n", name, tensorText(attribute.tensor));
  GraphModule plain = candidate.module;
  plain.codegen = {};  // as exports write it: what takes a joint graph's arguments apart says nothing of the failure
  return text + printPythonCode(plain);
}

Result<std::optional<PassingNeighbour>> closestPassing(const Candidate& failing, std::span<const Reduction> reductions,
                                                       const NeighbourJudge& judge, std::stop_token stop) {
  if (failing.module.graph.size() > largestGraph) return std::nullopt;
  VerdictKeys keys(judge.oracle, judge.rule);
  int asked = 0;
  for (Neighbour& neighbour : neighboursOf(failing, reductions, stop)) {
    const Candidate& candidate = neighbour.passing.candidate;
    auto verdict = judge.cache.find(keys.of(candidate));
    if (!verdict && asked == judge.tests) continue;
    if (!verdict) {
      ++asked;
      KERF_TRY(verdict, judge.oracle.judge(candidate, stop));
    }
    if (verdict->kind == VerdictKind::Passes) return std::move(neighbour.passing);
  }
  return std::nullopt;
}

}  // namespace kerf::inline minifier::inline report
