#include "app/workbench/minify/checkpoints.h"

#include "app/workbench/minify/reduction_log.h"
#include "engine/capture/repro/main_lines.h"
#include "engine/support/atomic_file.h"
#include "engine/tensor/mapped_file.h"
#include "minifier/core/repro_settings.h"

namespace kerf::workbench {

namespace {

std::vector<std::string> linesOf(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

Result<void> Checkpoints::accept(const MinifyStep& step, const Candidate& candidate) {
  KERF_TRY(Capture capture, captureOf(candidate, m_like));
  stopDumping(capture.envelope);
  capture.graphs[0].envelope.reset();  // the capture has it
  const std::size_t nodes = candidate.module.graph.size();
  const bool isDynamo = capture.envelope.runner == "after_dynamo";
  ExportOptions options;
  options.fileName = isDynamo ? fmt::format("minified_{}_nodes.py", nodes) : fmt::format("{}.py", nodes);
  KERF_TRY(const auto checkpoint, exportRepro(capture, 0, m_folder / "checkpoints", options));
  if (step.index == 0) KERF_CHECK(copyOver(checkpoint, "minifier_launcher.py", "'minify'"));
  return copyOver(checkpoint, "repro.py", "'run'");
}

/// One folder up, where the data is below "checkpoints".
Result<void> Checkpoints::copyOver(const std::filesystem::path& checkpoint, const std::string& name,
                                   std::string_view command) {
  KERF_TRY(const auto file, mapFile(checkpoint));
  const auto bytes = file->view();
  auto lines = linesOf({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  replaceOption(lines, "save_dir", "'.'", "'checkpoints'");
  replaceOption(lines, "command", "'run'", std::string(command));
  return writeTextFile(fmt::format("{}\n", fmt::join(lines, "\n")), m_folder / name);
}

}  // namespace kerf::workbench
