// A program from its file to its end.
#include <fstream>
#include <sstream>

#include "app/workbench/programs/program_runs.h"
#include "app/workbench/workbench.h"

namespace kerf::workbench {

namespace {

constexpr std::uintmax_t largestProgram = 16 << 20;

Result<std::string> readProgram(const std::string& path) {
  std::error_code problem;
  const auto size = std::filesystem::file_size(path, problem);
  if (problem) return fail(ErrorCode::NotFound, "{}: {}", path, problem.message());
  if (size > largestProgram)
    return fail(ErrorCode::TooLarge, "{} has {} bytes; a program has at most 16 MiB", path, size);
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return fail(ErrorCode::Environment, "{} cannot be read", path);
  return std::move(text).str();
}

}  // namespace

Result<ProgramDoc> perform(Workbench&, const CaptureProgramRequest& request, const Job& job) {
  KERF_TRY(const std::string text, readProgram(request.path));
  const auto start = std::chrono::steady_clock::now();
  KERF_TRY(ProgramDoc doc, runProgramText(text, request, job.stop));
  doc.path = request.path;
  doc.time = std::chrono::steady_clock::now() - start;
  return doc;
}

}  // namespace kerf::workbench
