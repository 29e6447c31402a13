// perform(AuditRequest): output code of a capture, or a file of it, claim by claim.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "app/workbench/captures/capture_source.h"
#include "engine/audit/audit.h"
#include "engine/capture/common/details.h"

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

AuditedProgram audited(std::string name, std::string_view text, const Job& job, double from, double share) {
  AuditedProgram program;
  program.name = std::move(name);
  AuditOptions options;
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

/// A Python file with a `call` and kernels is output code itself; other files are captures.
std::optional<std::string> outputCodeFile(const std::string& path) {
  std::error_code problem;
  if (!path.ends_with(".py") || !std::filesystem::is_regular_file(path, problem)) return std::nullopt;
  if (std::filesystem::file_size(path, problem) > std::uintmax_t(codeLimit) || problem) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  const bool isCode = text.find("def call(") != std::string::npos && text.find("AsyncCompile") != std::string::npos;
  return isCode ? std::optional(std::move(text)) : std::nullopt;
}

std::vector<const CaptureRecord*> codeRecords(const Capture& capture) {
  std::vector<const CaptureRecord*> records;
  if (!capture.details) return records;
  for (const CaptureRecord& record : capture.details->records)
    if (record.kind == "inductor_output_code") records.push_back(&record);
  return records;
}

std::string nameOf(const CaptureRecord& record, std::size_t number) {
  std::string name = record.origin.compileId.empty() ? fmt::format("program {}", number + 1) : record.origin.compileId;
  const std::string file = std::filesystem::path(record.name).filename().string();
  return file.empty() || file == record.kind ? name : fmt::format("{} {}", name, file);
}

}  // namespace

Result<std::vector<AuditedProgram>> perform(Workbench& bench, const AuditRequest& request, const Job& job) {
  std::vector<AuditedProgram> programs;
  if (const auto text = outputCodeFile(request.capture)) {
    programs.push_back(audited(std::filesystem::path(request.capture).filename().string(), *text, job, 0, 1));
    return programs;
  }
  KERF_TRY(const auto source, openCapture(bench, request.capture, job));
  const std::vector<const CaptureRecord*> records = codeRecords(source->capture);
  if (records.empty()) return fail(ErrorCode::NotFound, "{} holds no output code", request.capture);
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::string name = nameOf(*records[i], i);
    if (!job.progress("auditing " + name, double(i) / double(records.size())))
      return fail(ErrorCode::Cancelled, "stopped");
    const auto text = records[i]->text(codeLimit);
    if (text)
      programs.push_back(audited(name, *text, job, double(i) / double(records.size()), 1.0 / double(records.size())));
    else
      programs.push_back({name, text.error().text(), 0, 0, 0, {}, {}});
  }
  return programs;
}

}  // namespace kerf::workbench
