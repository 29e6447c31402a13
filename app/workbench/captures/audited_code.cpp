#include "app/workbench/captures/audited_code.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>

#include "engine/audit/audit.h"
#include "engine/capture/common/details.h"
#include "engine/capture/common/recorded_fusion.h"

namespace kerf::workbench {

namespace {

constexpr std::int64_t codeLimit = 64LL << 20;  ///< bytes of one program

std::vector<std::string_view> linesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::string statementAt(const std::vector<std::string_view>& lines, int line) {
  constexpr std::size_t longest = 240;
  if (line < 1 || std::size_t(line) > lines.size()) return {};
  std::string_view text = lines[std::size_t(line - 1)];
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return std::string(text.substr(0, longest));
}

/// The graph that a program was generated from; null where it cannot be read.
std::unique_ptr<CapturedGraph> loaded(const CapturedGraph& graph) {
  auto made = std::make_unique<CapturedGraph>(graph);
  return made->ensureLoaded() ? std::move(made) : nullptr;
}

/// The graph after all passes, which a debug folder keeps next to the program.
std::unique_ptr<CapturedGraph> graphBeside(const std::filesystem::path& program) {
  const std::filesystem::path file = program.parent_path() / "fx_graph_transformed.py";
  std::error_code problem;
  if (!std::filesystem::is_regular_file(file, problem)) return nullptr;
  const auto capture = importCapture(file);
  return !capture || capture->graphs.empty() ? nullptr : loaded(capture->graphs[0]);
}

/// Symbols of which the graph says no value take those of the program's own example inputs.
std::unique_ptr<CapturedGraph> sized(std::unique_ptr<CapturedGraph> graph, std::string_view text) {
  if (graph == nullptr) return nullptr;
  const auto examples = exampleSizes(text);
  std::map<std::string, std::int64_t, std::less<>> values;
  for (const SymExpr& symbol : graph->symbols())
    if (const auto example = examples.find(symbol.text); example != examples.end() && !symbol.hint)
      values.insert(*example);
  if (values.empty()) return graph;
  auto made = withSymbolValues(*graph, values);
  return made ? std::make_unique<CapturedGraph>(std::move(*made)) : std::move(graph);
}

AuditedProgram audited(std::string name, std::string_view text, const CapturedGraph* graph, double mostElements,
                       const Job& job, double from, double share) {
  AuditedProgram program;
  program.name = std::move(name);
  AuditOptions options;
  if (graph != nullptr) {
    options.graph.module = &graph->module;
    options.graph.inputs = [graph] { return graph->loadInputs(LoadOptions(), nullptr); };
    options.graph.mostElements = mostElements;
  }
  options.progress = [&](double done) { return job.progress("auditing " + program.name, from + done * share); };
  const auto report = auditOutputCode(text, options);
  if (!report) {
    program.error = report.error().text();
    return program;
  }
  program.kernels = report->kernels;
  program.calls = report->calls;
  program.buffers = report->buffers;
  for (std::size_t kind = 0; kind < claimKinds; ++kind) {
    const AuditReport::Count& count = report->counts[kind];
    if (count.proved + count.refuted + count.notKnown == 0) continue;
    const auto about = ClaimAbout(kind);
    program.counts.push_back({std::string(claimName(about)), std::string(claimSentence(about)), count.proved,
                              count.refuted, count.notKnown});
  }
  const std::vector<std::string_view> lines = linesOf(text);
  for (const AuditClaim& claim : report->claims)
    program.claims.push_back({std::string(claimName(claim.about)),
                              claim.verdict == ClaimVerdict::Refuted ? "refuted" : "not known", claim.line,
                              statementAt(lines, claim.line), claim.otherLine, statementAt(lines, claim.otherLine),
                              claim.subject, claim.reason, claim.example});
  std::ranges::stable_partition(program.claims, [](const AuditClaimRow& row) { return row.verdict == "refuted"; });
  return program;
}

/// A file with a `call` and kernels, or a wrapper in C++, is output code itself; other files are captures.
std::optional<std::string> outputCodeOf(const std::filesystem::path& path) {
  std::error_code problem;
  if ((path.extension() != ".py" && path.extension() != ".cpp") || !std::filesystem::is_regular_file(path, problem))
    return std::nullopt;
  if (std::filesystem::file_size(path, problem) > std::uintmax_t(codeLimit) || problem) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  const bool isCode = text.find("def call(") != std::string::npos && text.find("AsyncCompile") != std::string::npos;
  return isCode || hasCppWrapper(text) ? std::optional(std::move(text)) : std::nullopt;
}

std::vector<CompiledPart> codeParts(const Capture& capture) {
  return capture.details ? compiledParts(capture) : std::vector<CompiledPart>();
}

std::string nameOf(const CaptureRecord& record, std::size_t number) {
  std::string name = record.origin.compileId.empty() ? fmt::format("program {}", number + 1) : record.origin.compileId;
  const std::string file = std::filesystem::path(record.name).filename().string();
  return file.empty() || file == record.kind ? name : fmt::format("{} {}", name, file);
}

}  // namespace

Result<std::vector<AuditedProgram>> auditedPrograms(const std::string& name, const Capture& capture,
                                                    const AuditLimits& limits, const Job& job) {
  std::vector<AuditedProgram> programs;
  const std::vector<CompiledPart> parts = codeParts(capture);
  if (parts.empty()) return fail(ErrorCode::NotFound, "{} holds no output code", name);
  const double share = 1.0 / double(parts.size());
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const CaptureRecord& record = capture.details->records[parts[i].code];
    const std::string own = nameOf(record, i);
    if (!job.progress("auditing " + own, double(i) * share)) return fail(ErrorCode::Cancelled, "stopped");
    const auto text = record.text(codeLimit);
    bytes += text ? text->size() : 0;
    if (!text || bytes > limits.mostBytes) {
      programs.push_back(
          {own, text ? "left out: all programs together are too long" : text.error().text(), 0, 0, 0, {}, {}});
      continue;
    }
    const auto graph = parts[i].lowered ? loaded(capture.graphs[*parts[i].lowered]) : nullptr;
    programs.push_back(audited(own, *text, graph.get(), limits.mostElements, job, double(i) * share, share));
  }
  return programs;
}

std::optional<AuditedProgram> auditedFile(const std::filesystem::path& path, const Job& job) {
  const auto text = outputCodeOf(path);
  if (!text) return std::nullopt;
  const auto graph = sized(graphBeside(path), *text);
  return audited(path.filename().string(), *text, graph.get(), AuditLimits().mostElements, job, 0, 1);
}

}  // namespace kerf::workbench
