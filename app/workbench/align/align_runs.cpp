// perform(AlignRequest): two recordings opened, aligned, and told as rows.
#include "app/workbench/align/open_recording.h"
#include "app/workbench/align/step_repro.h"
#include "app/workbench/align/step_rerun.h"
#include "app/workbench/captures/capture_source.h"
#include "app/workbench/protocol/alignment.h"
#include "engine/align/alignment.h"

namespace kerf::workbench {

namespace {

constexpr std::size_t mostListed = 200;  ///< of a pair that a row lists

AlignedSide sideOf(std::string path, const RunRecording& recording) {
  AlignedSide side{.path = std::move(path), .kind = recording.kind, .part = recording.side};
  side.steps = int(recording.steps.size());
  side.measured = int(std::ranges::count_if(
      recording.steps, [](const RunStep& step) { return std::ranges::any_of(step.outputs, &StepValue::measured); }));
  side.notes = recording.notes;
  return side;
}

std::vector<AlignedStep> stepsOf(const RunRecording& recording, const std::vector<std::size_t>& which) {
  std::vector<AlignedStep> steps;
  for (const std::size_t i : which) {
    if (steps.size() == mostListed) break;
    const RunStep& step = recording.steps[i];
    steps.push_back({step.name, step.op, step.module, step.source, step.parts});
  }
  return steps;
}

class Document {
 public:
  Document(const OpenedRecording& a, const OpenedRecording& b, const RunAlignment& alignment)
      : m_a(a.recording), m_b(b.recording), m_alignment(alignment), m_steps(a, b) {}

  AlignDoc make(bool all) {
    m_doc.verdict = alignVerdictName(m_alignment.verdict);
    m_doc.first = number(m_alignment.first);
    m_doc.firstUnequal = number(m_alignment.firstUnequal);
    for (std::size_t i = 0; i < m_alignment.pairs.size(); ++i) {
      count(m_alignment.pairs[i]);
      if (all || matters(i)) m_doc.rows.push_back(row(i));
    }
    m_doc.notes = m_alignment.notes;
    return std::move(m_doc);
  }

  /// Runs the first pairs that differ in float64.
  Result<void> addFloat64(AlignDoc& doc, Workbench& bench, const Job& job) const {
    int runs = 0;
    for (AlignedRow& row : doc.rows) {
      const AlignedPair& pair = m_alignment.pairs[std::size_t(row.pair)];
      const bool asked = row.role == "first" || row.role == "new" || row.pair == doc.firstUnequal;
      const auto results = asked ? m_steps.results(pair) : std::nullopt;
      if (!results || isWhole(*results) || runs == mostFloat64) continue;
      if (!job.progress("running steps in float64", 0.8)) return fail(ErrorCode::Cancelled, "stopped");
      ++runs;
      const auto graph = m_steps.graphOf(pair);
      if (graph)
        row.fp64 = fp64Distance(bench, *graph, *results, job);
      else
        row.fp64.reason = graph.error().text();
    }
    return {};
  }

  /// The step that the user would look at first, as a repro, and smaller where an oracle sees it fail.
  Result<void> addRepro(AlignDoc& doc, const AlignRequest& request, Workbench& bench, const Job& job) const {
    const int chosen = doc.first >= 0 ? doc.first : request.exact ? doc.firstUnequal : -1;
    if (chosen < 0) {
      doc.reproNote = "no step is wrong: there is nothing to minify";
      return {};
    }
    const auto step = m_steps.graphOf(m_alignment.pairs[std::size_t(chosen)]);
    if (!step) {
      doc.reproNote = step.error().text();
      return {};
    }
    const std::filesystem::path folder = request.output.empty() ? "kerf-repro-align" : request.output;
    KERF_TRY(const auto repro, writeStepRepro(*step, folder));
    doc.repro = repro.string();
    return minified(doc, request, bench, job);
  }

 private:
  static constexpr int mostFloat64 = 8;  ///< runs, each in a process of its own

  static bool isWhole(const std::pair<Tensor, Tensor>& results) {
    return !isFloating(results.first.dtype()) || !isFloating(results.second.dtype());
  }

  static Result<void> minified(AlignDoc& doc, const AlignRequest& request, Workbench& bench, const Job& job) {
    JudgeRequest judge;
    judge.graph.text = doc.repro;
    judge.oracle = request.oracle;
    judge.oracle.accuracy.exact |= request.exact && request.oracle.oracle == "engine";
    KERF_TRY(const JudgeAnswer answer, perform(bench, judge, job));
    if (answer.verdict != JudgeAnswer::Verdict::Fails) {
      doc.reproNote = fmt::format("alone the step {} by the oracle {}{}",
                                  answer.verdict == JudgeAnswer::Verdict::Passes ? "passes" : "cannot be tested",
                                  request.oracle.oracle, answer.detail.empty() ? "" : ": " + answer.detail);
      return {};
    }
    doc.reproSays = answer.fingerprint;
    MinifyRequest minify;
    minify.graph.text = doc.repro;
    minify.oracle = judge.oracle;
    minify.output = (std::filesystem::path(doc.repro).parent_path() / "minified").string();
    KERF_TRY(doc.minified, perform(bench, minify, job));
    return {};
  }

  static int number(std::size_t pair) { return pair == SIZE_MAX ? -1 : int(pair); }

  bool matters(std::size_t i) const {
    const PairRole role = m_alignment.pairs[i].role;
    const bool back = m_alignment.first != SIZE_MAX && m_alignment.pairs[m_alignment.first].reachesBack == i;
    return role == PairRole::First || role == PairRole::New || i == m_alignment.firstUnequal || back;
  }

  void count(const AlignedPair& pair) {
    if (pair.steps.a.empty() || pair.steps.b.empty()) {
      m_doc.onlyA += int(pair.steps.a.size());
      m_doc.onlyB += int(pair.steps.b.size());
      return;
    }
    ++m_doc.pairs;
    int AlignDoc::* const counters[] = {&AlignDoc::unknown, &AlignDoc::same,    &AlignDoc::rounding,
                                        &AlignDoc::wrong,   &AlignDoc::follows, &AlignDoc::wrong};
    ++(m_doc.*counters[std::size_t(pair.role)]);
  }

  AlignedRow row(std::size_t i) const {
    const AlignedPair& pair = m_alignment.pairs[i];
    AlignedRow row{.pair = int(i), .a = stepsOf(m_a, pair.steps.a), .b = stepsOf(m_b, pair.steps.b)};
    row.role = pairRoleName(pair.role);
    row.evidence = pairEvidenceName(pair.steps.evidence);
    row.inputs = gapKindName(pair.inputs.kind);
    row.outputs = gapKindName(pair.outputs.kind);
    row.inputsText = pair.inputs.text();
    row.outputsText = pair.outputs.text();
    row.relative = pair.outputs.relative;
    if (pair.outputs.bits) row.ulps = pair.outputs.bits->histogram;
    if (pair.rerun) {
      row.own = pair.rerun->own;
      row.allowed = pair.rerun->allowed;
    }
    row.cause = pair.cause;
    row.reachesBack = number(pair.reachesBack);
    if (const auto place = m_steps.placeOf(pair)) {
      row.graph = place->graph->address;
      row.node = place->node;
    }
    return row;
  }

  const RunRecording &m_a, &m_b;
  const RunAlignment& m_alignment;
  RecordedSteps m_steps;
  AlignDoc m_doc;
};

/// "run" and "eager" of "run#eager"; a path that exists as it is written has no side.
std::pair<std::string, std::string> pathAndSide(const std::string& text) {
  for (const std::string_view side : {"#eager", "#compiled"})
    if (text.ends_with(side)) return {text.substr(0, text.size() - side.size()), std::string(side.substr(1))};
  return {text, {}};
}

}  // namespace

Result<AlignDoc> perform(Workbench& bench, const AlignRequest& request, const Job& job) {
  auto [pathA, sideA] = pathAndSide(request.a);
  auto [pathB, sideB] = pathAndSide(request.b);
  if (pathB.empty()) {
    if (!isRecordFolder(pathA))
      return fail(ErrorCode::BadUsage, "a second recording is missing: only a folder of kerf record holds two sides");
    pathB = pathA;
    sideA = "eager";
    sideB = "compiled";
  }
  KERF_TRY(const OpenedRecording a, openRecording(bench, pathA, sideA, request.graph, job));
  KERF_TRY(const OpenedRecording b, openRecording(bench, pathB, sideB, request.graph, job));
  if (!job.progress("aligning", 0.5)) return fail(ErrorCode::Cancelled, "stopped");
  StepReruns reruns(a, b, job);
  RunAlignment alignment =
      alignRecordings(a.recording, b.recording, [&](const StepPair& steps) { return reruns.gapOf(steps); });
  if (reruns.left() > 0)
    alignment.notes.push_back(fmt::format("{} more steps with other inputs were not run again: {} are", reruns.left(),
                                          StepReruns::mostReruns));
  Document document(a, b, alignment);
  AlignDoc doc = document.make(request.all);
  doc.a = sideOf(pathA, a.recording);
  doc.b = sideOf(pathB, b.recording);
  KERF_CHECK(document.addFloat64(doc, bench, job));
  if (request.minify) KERF_CHECK(document.addRepro(doc, request, bench, job));
  return doc;
}

}  // namespace kerf::workbench
