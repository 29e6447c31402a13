// The 80 seeded cases that the benches of the minifier run: graphs, and the needles that make them fail.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/capture/common/capture.h"
#include "engine/support/recordings.h"
#include "tests/support/needle_cases.h"
#include "tests/support/needle_graphs.h"

namespace kerf::testing {

struct GateCase {
  std::string graph;
  NeedleRule rule;
  int needles;
  unsigned seed;
};

inline constexpr std::string_view ruleNames[] = {"together", "wide", "ordered"};

inline std::optional<Candidate> recordedGraph(const std::string& name) {
  auto capture = importCapture(recordingsFolder() / name);
  if (!capture || capture->graphs.empty()) return std::nullopt;
  CapturedGraph& graph = capture->graphs.front();
  if (!graph.annotateShapes()) return std::nullopt;
  auto inputs = graph.loadInputs(false, nullptr);
  if (!inputs) return std::nullopt;
  return Candidate{graph.module, std::move(*inputs)};
}

/// "seeded:CALLS:nested" or a recording.
inline std::optional<Candidate> graphOf(const GateCase& gate) {
  if (!gate.graph.starts_with("seeded:")) return recordedGraph(gate.graph);
  NeedleGraphOptions options{.seed = gate.seed};
  options.calls = std::size_t(std::stoul(gate.graph.substr(7)));
  options.nested = gate.graph.ends_with(":nested");
  options.mutates = gate.seed % 5 == 0;
  return needleGraph(options);
}

/// Other cases of the same kinds for another `firstSeed`; those of the gate for 0.
inline std::vector<GateCase> gateCases(unsigned firstSeed = 0) {
  static constexpr const char* graphs[] = {"seeded:50",         "golden/gpt2_mini/repro/train_forward.py",
                                           "seeded:300",        "golden/bert_mini/repro/train_backward.py",
                                           "seeded:120:nested", "golden/timm_test_efficientnet/repro/train_backward.py",
                                           "seeded:1000",       "golden/convnext_mini/repro/train_backward.py",
                                           "seeded:600:nested", "seeded:2300"};
  std::vector<GateCase> cases;
  for (unsigned i = 0; i < 80; ++i) {
    const NeedleRule rule = i % 4 == 2 ? NeedleRule::Wide : i % 4 == 3 ? NeedleRule::Ordered : NeedleRule::Together;
    int needles = 1 + int(i / 10) % 4;
    if (rule == NeedleRule::Ordered) needles = std::max(needles, 2);
    cases.push_back({graphs[i % std::size(graphs)], rule, needles, firstSeed + i});
  }
  return cases;
}

/// Plants the case's needles; how many there are.
inline int plant(const GateCase& gate, Candidate& start) {
  const bool inBody = gate.rule == NeedleRule::Together && gate.graph.ends_with(":nested");
  int needles = inBody && gate.needles == 1
                    ? 0
                    : plantNeedles(start.module.graph, gate.rule, gate.needles - (inBody ? 1 : 0), gate.seed);
  if (inBody) needles += plantNestedNeedle(start.module, needles, gate.seed) ? 1 : 0;
  return needles;
}

}  // namespace kerf::testing
