#include "engine/align/step_pairs.h"

#include <numeric>
#include <unordered_map>

#include "engine/align/gap_runs.h"
#include "engine/diff/sequence_alignment.h"
#include "engine/support/hash.h"

namespace kerf::inline align {

namespace {

struct Range {
  std::size_t begin = 0, end = 0;
  std::size_t size() const { return end - begin; }
};
struct Gap {
  Range a, b;
};

Key keyOf(std::string_view text) { return std::hash<std::string_view>()(text); }

std::string shapesText(const std::vector<StepValue>& values) {
  std::string text;
  for (const StepValue& value : values) text += value.text() + ";";
  return text;
}

/// The line without the folder of its file, which differs from machine to machine.
std::string_view lineWithoutFolder(std::string_view source) {
  const std::size_t end = source.find(".py:");
  const std::size_t slash = source.substr(0, end).rfind('/');
  return end == std::string_view::npos || slash == std::string_view::npos ? source : source.substr(slash + 1);
}

struct KeyRound {
  PairEvidence evidence;
  /// What steps must have alike; empty: such a step has no partner in this round.
  std::string (*text)(const RunStep& step);
};

std::string valuesKey(const RunStep& step) {
  std::string text;
  for (const StepValue& value : step.outputs)
    if (!value.hash.empty()) text += value.hash + (value.l1 ? fmt::format("/{}", *value.l1) : "") + ";";
  return text.empty() || step.kernel ? std::string() : step.op + "|" + text;
}

std::string structureKey(const RunStep& step) {
  return fmt::format("{}|{}|{}|{}|{}|{}", step.op, step.constants, shapesText(step.inputs), shapesText(step.outputs),
                     step.module, lineWithoutFolder(step.source));
}

std::string lineKey(const RunStep& step) {
  if (step.module.empty() && step.source.empty()) return {};
  return fmt::format("{}|{}|{}|{}", step.op, step.inputs.size(), step.module, lineWithoutFolder(step.source));
}

std::string shapesKey(const RunStep& step) {
  return fmt::format("{}|{}|{}", step.op, step.inputs.size(), shapesText(step.outputs));
}

std::string orderKey(const RunStep& step) { return fmt::format("{}|{}", step.op, step.inputs.size()); }

constexpr KeyRound opRounds[] = {{PairEvidence::Values, valuesKey},
                                 {PairEvidence::Structure, structureKey},
                                 {PairEvidence::Line, lineKey},
                                 {PairEvidence::Order, shapesKey},
                                 {PairEvidence::Order, orderKey}};
class Pairing {
 public:
  Pairing(const RunRecording& a, const RunRecording& b) : m_a(a.steps), m_b(b.steps) {}

  std::vector<StepPair> run() {
    std::vector<Gap> gaps{{{0, m_a.size()}, {0, m_b.size()}}};
    for (const KeyRound& round : opRounds) gaps = refined(gaps, round);
    GapRuns runs(m_a, m_b);
    for (const Gap& gap : gaps) {
      if (gap.a.size() + gap.b.size() == 0) continue;
      for (StepPair& pair : runs.pairs({indices(gap.a), indices(gap.b)})) m_pairs.push_back(std::move(pair));
    }
    std::ranges::stable_sort(m_pairs, {}, [](const StepPair& pair) {
      return std::pair(pair.b.empty() ? SIZE_MAX : pair.b.front(), pair.a.empty() ? SIZE_MAX : pair.a.front());
    });
    return withLonelyInPlace();
  }

 private:
  /// Pairs within the gaps, and the gaps that are left between them.
  std::vector<Gap> refined(const std::vector<Gap>& gaps, const KeyRound& round) {
    std::vector<Gap> left;
    for (const Gap& gap : gaps) {
      if (gap.a.size() == 0 || gap.b.size() == 0) {
        left.push_back(gap);
        continue;
      }
      const auto before = keys(m_a, gap.a, round, 1), after = keys(m_b, gap.b, round, 2);
      Gap rest = gap;
      for (const auto& [i, j] : alignSequences(before, after)) {
        const std::size_t a = gap.a.begin + std::size_t(i), b = gap.b.begin + std::size_t(j);
        left.push_back({{rest.a.begin, a}, {rest.b.begin, b}});
        m_pairs.push_back({{a}, {b}, round.evidence});
        rest.a.begin = a + 1;
        rest.b.begin = b + 1;
      }
      left.push_back(rest);
    }
    return left;
  }

  static std::vector<std::size_t> indices(Range range) {
    std::vector<std::size_t> all(range.size());
    std::iota(all.begin(), all.end(), range.begin);
    return all;
  }

  /// Steps without a key get one that the other side has not.
  static std::vector<Key> keys(const std::vector<RunStep>& steps, Range range, const KeyRound& round, Key side) {
    std::vector<Key> found;
    found.reserve(range.size());
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const std::string text = round.text(steps[i]);
      found.push_back(text.empty() ? mixed(side, i) : keyOf(text));
    }
    return found;
  }

  /// Runs of `a` alone, which sort last, go behind the pair that holds the step before them.
  std::vector<StepPair> withLonelyInPlace() {
    std::vector<StepPair> placed, lonely;
    for (StepPair& pair : m_pairs) (pair.b.empty() ? lonely : placed).push_back(std::move(pair));
    std::unordered_map<std::size_t, std::vector<StepPair>> behind;
    for (StepPair& pair : lonely) behind[pair.a.front()].push_back(std::move(pair));
    std::vector<StepPair> all;
    const auto follow = [&](std::size_t next) {
      for (auto found = behind.find(next); found != behind.end(); found = behind.find(next)) {
        std::vector<StepPair> here = std::move(found->second);
        behind.erase(found);
        for (StepPair& pair : here) {
          next = pair.a.back() + 1;
          all.push_back(std::move(pair));
        }
      }
    };
    follow(0);
    for (StepPair& pair : placed) {
      const std::size_t next = pair.a.empty() ? SIZE_MAX : pair.a.back() + 1;
      all.push_back(std::move(pair));
      if (next != SIZE_MAX) follow(next);
    }
    for (StepPair& pair : lonely)
      if (!pair.a.empty() && behind.contains(pair.a.front())) all.push_back(std::move(pair));
    return all;
  }

  const std::vector<RunStep>&m_a, &m_b;
  std::vector<StepPair> m_pairs;
};

/// Steps that are named after nodes: a name is a partner, in whatever order the recordings tell them.
std::vector<StepPair> pairedByName(const RunRecording& a, const RunRecording& b) {
  std::unordered_map<std::string_view, std::size_t> open;
  for (std::size_t i = 0; i < a.steps.size(); ++i) open.emplace(a.steps[i].name, i);
  std::vector<StepPair> pairs;
  std::vector<bool> taken(a.steps.size(), false);
  for (std::size_t j = 0; j < b.steps.size(); ++j) {
    const auto found = open.find(b.steps[j].name);
    if (found == open.end()) {
      pairs.push_back({{}, {j}, PairEvidence::None});
      continue;
    }
    pairs.push_back({{found->second}, {j}, PairEvidence::Name});
    taken[found->second] = true;
    open.erase(found);
  }
  for (std::size_t i = 0; i < taken.size(); ++i)
    if (!taken[i]) pairs.push_back({{i}, {}, PairEvidence::None});
  return pairs;
}

/// Names of nodes, or of tensors; a log has none.
bool namesSteps(const RunRecording& recording) {
  return recording.kind != "DebugMode log" && recording.kind != "torchtitan log";
}

}  // namespace

std::string_view pairEvidenceName(PairEvidence evidence) {
  constexpr std::string_view names[] = {"", "name", "values", "structure", "source line", "order", "place"};
  return names[std::size_t(evidence)];
}

std::vector<StepPair> pairedSteps(const RunRecording& a, const RunRecording& b) {
  if (namesSteps(a) && namesSteps(b)) return pairedByName(a, b);
  return Pairing(a, b).run();
}

}  // namespace kerf::inline align
