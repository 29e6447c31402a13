// kerf show c7 --format program: a captured program's source with what torch.compile made of it at its lines.
#include <algorithm>
#include <map>

#include "app/cli/json_of.h"
#include "app/cli/show_parts.h"
#include "app/cli/text_table.h"
#include "engine/support/log.h"

namespace kerf::cli {

namespace {

/// Remarks by line of the program; 0: of none.
using Remarks = std::map<std::int64_t, std::vector<std::string>>;

std::string breakTitle(const ProgramBreak& item) {
  const std::string title = item.isSkip ? "frame not compiled" : "graph break";
  return fmt::format("{}{}: {}", title, item.id.empty() ? "" : " " + item.id, escapedText(item.type));
}

void addBreaks(const ProgramReport& report, Remarks& remarks) {
  for (const ProgramBreak& item : report.breaks) {
    auto& lines = remarks[item.line];
    lines.push_back(breakTitle(item));
    if (!item.explanation.empty()) lines.push_back("  " + escapedText(item.explanation));
    for (const std::string& hint : item.hints) lines.push_back("  what to do: " + escapedText(hint));
    if (item.line == 0 && !item.stack.empty()) lines.push_back("  at " + escapedText(item.stack.back()));
  }
}

void addFrames(const ProgramReport& report, Remarks& remarks) {
  for (const ProgramFrame& frame : report.frames) {
    auto& lines = remarks[frame.line];
    lines.push_back(fmt::format("frame {} {}: {}, {}", frame.id, escapedText(frame.name),
                                counted(std::ssize(frame.guards), "guard"), counted(frame.runs, "run")));
    if (!frame.because.empty()) lines.push_back("  compiled again: " + escapedText(frame.because));
    for (const int graph : frame.graphs) {
      const ReportedGraph& made = report.graphs[std::size_t(graph)];
      const std::string place = made.stored < 0 ? "not kept" : fmt::format("{}/g{}", report.capture, made.stored + 1);
      lines.push_back(fmt::format("  graph {} ({}): {}, ran by {}", escapedText(made.name), place,
                                  counted(std::ssize(made.nodes), "node"), escapedText(made.ranBy)));
    }
  }
}

std::vector<std::string> sourceLines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

void addRemarks(std::string& text, const std::vector<std::string>& remarks) {
  for (const std::string& remark : remarks) text += "       | " + remark + "\n";
}

}  // namespace

std::string programText(const ProgramReport& report) {
  Remarks remarks;
  addFrames(report, remarks);
  addBreaks(report, remarks);
  std::string text =
      fmt::format("{} ({}): {}, {}, {}, {}\n\n", escapedText(report.path), report.capture,
                  counted(std::ssize(report.frames), "frame"), counted(std::ssize(report.graphs), "graph"),
                  counted(std::ranges::count(report.breaks, false, &ProgramBreak::isSkip), "graph break"),
                  counted(std::ssize(report.recompiles), "recompile"));
  const std::vector<std::string> lines = sourceLines(report.source);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += fmt::format("{:6} | {}\n", i + 1, escapedText(lines[i]));
    addRemarks(text, remarks[std::int64_t(i) + 1]);
  }
  if (!remarks[0].empty()) text += "\nelsewhere\n";
  addRemarks(text, remarks[0]);
  if (!report.exception.empty()) text += fmt::format("\nended by {}\n", escapedText(report.exception));
  for (const std::string& note : report.notes) text += fmt::format("note: {}\n", escapedText(note));
  return text;
}

Json programReportJson(const ProgramReport& report) { return jsonOf(report); }

}  // namespace kerf::cli
