#include "app/workbench/minify/judge_graph.h"

#include <chrono>

#include "engine/process/containment.h"
#include "engine/process/program.h"
#include "engine/process/temporary_folder.h"
#include "engine/process/wait.h"

namespace kerf::workbench {

namespace {

constexpr auto timeToImport = std::chrono::minutes(2), timeToRun = std::chrono::minutes(5);

std::string lastLine(const std::string& text) {
  const auto end = text.find_last_not_of(" \r\n");
  if (end == std::string::npos) return {};
  const auto before = text.find_last_of('\n', end);
  const auto begin = before == std::string::npos ? 0 : before + 1;
  return text.substr(begin, end + 1 - begin);
}

/// By ContainedEnd, for those that say all themselves.
constexpr std::pair<ContainedEnd, std::string_view> endTexts[] = {{ContainedEnd::TimedOut, "it took too long"},
                                                                  {ContainedEnd::Memory, "over the memory limit"},
                                                                  {ContainedEnd::Processes, "over the process limit"},
                                                                  {ContainedEnd::Output, "over the output limit"}};

std::string endText(const ContainedResult& ended) {
  for (const auto& [end, text] : endTexts)
    if (end == ended.end) return std::string(text);
  if (ended.end == ContainedEnd::Signalled) return nameOfSignal(ended.status);
  const std::string line = lastLine(ended.errors.text());
  return line.empty() ? fmt::format("exit {}", ended.status) : line.substr(0, 300);
}

bool isGood(const ContainedResult& ended) { return ended.end == ContainedEnd::Exited && ended.status == 0; }

Result<ContainedResult> runPython(std::vector<std::string> arguments, const std::filesystem::path& folder,
                                  std::chrono::milliseconds timeout, const CandidateLimits& limits,
                                  std::stop_token stop) {
  KERF_TRY(auto ended, runContained({std::move(arguments), folder, timeout, limits}, stop));
  if (ended.end == ContainedEnd::Cancelled) return fail(ErrorCode::Cancelled, "stopped while PyTorch ran the repro");
  return ended;
}

}  // namespace

std::string TorchConfirmation::text() const {
  return fails ? fmt::format("PyTorch {} fails on it: {}", version, how)
               : fmt::format("PyTorch {} runs it without failure", version);
}

Result<TorchConfirmation> confirmWithTorch(const std::string& python, const std::filesystem::path& repro,
                                           const CandidateLimits& limits, std::stop_token stop) {
  std::error_code ignored;
  const bool isPath = python.find('/') != std::string::npos;
  const auto program = isPath ? std::filesystem::absolute(python, ignored) : findProgram(python);
  if (program.empty()) return fail(ErrorCode::Environment, "there is no program {}", python);
  // Not in the repro's folder, where a file may be called torch.py.
  KERF_TRY(const auto asked, runPython({program.string(), "-c", "import torch; print(torch.__version__)"}, "/",
                                       timeToImport, limits, stop));
  if (!isGood(asked)) return fail(ErrorCode::Environment, "{} cannot import torch ({})", python, endText(asked));
  TorchConfirmation confirmation;
  confirmation.version = lastLine(asked.output.text()).substr(0, 60);
  KERF_TRY(const auto caches, TemporaryFolder::create());
  const auto absolute = std::filesystem::absolute(repro, ignored);
  KERF_TRY(const auto ended, runPython({"/usr/bin/env", "TORCHINDUCTOR_CACHE_DIR=" + caches.path().string(),
                                        program.string(), absolute.string(), "run"},
                                       absolute.parent_path(), timeToRun, limits, stop));
  confirmation.fails = !isGood(ended);
  if (confirmation.fails) confirmation.how = endText(ended);
  return confirmation;
}

}  // namespace kerf::workbench
