#include "app/cli/show_parts.h"

#include <map>
#include <sstream>

#include <fmt/ranges.h>

namespace kerf::cli {

namespace {

constexpr std::string_view kindNames[] = {"definition", "access", "call"};

/// By line of the program: what to say of it. A definition is named at its first line, a call at its last.
std::map<int, const CodeSpan*> saidLines(const RecordedProgram& program) {
  std::map<int, const CodeSpan*> said;
  for (const CodeSpan& span : program.spans)
    if (!span.nodes.empty()) said[span.kind == CodeSpan::Kind::Definition ? span.first : span.last] = &span;
  return said;
}

}  // namespace

std::string outputCodeText(const std::vector<RecordedProgram>& programs) {
  std::string out;
  for (const RecordedProgram& program : programs) {
    if (!out.empty()) out += '\n';
    out += fmt::format("# {}{}{}\n", program.name, program.part.empty() ? "" : ", ", program.part);
    if (!program.note.empty()) out += fmt::format("# {}\n", program.note);
    const auto said = saidLines(program);
    std::istringstream lines(program.text);
    int number = 0;
    for (std::string line; std::getline(lines, line); ++number) {
      const auto span = said.find(number);
      out += line;
      if (span != said.end()) out += fmt::format("  # <- {}", fmt::join(span->second->nodes, ", "));
      out += '\n';
    }
  }
  return out;
}

Json outputCodeJson(const std::string& graph, const std::vector<RecordedProgram>& programs) {
  Json rows = Json::array();
  for (const RecordedProgram& program : programs) {
    Json spans = Json::array();
    for (const CodeSpan& span : program.spans)
      spans.push_back({{"kind", kindNames[std::size_t(span.kind)]},
                       {"first_line", span.first + 1},
                       {"last_line", span.last + 1},
                       {"kernel", span.kernel},
                       {"nodes", span.nodes}});
    rows.push_back({{"record", fmt::format("r{}", program.record + 1)},
                    {"name", program.name},
                    {"part", orNull(program.part)},
                    {"note", orNull(program.note)},
                    {"spans", std::move(spans)},
                    {"text", program.text}});
  }
  return {{"graph", graph}, {"programs", std::move(rows)}};
}

}  // namespace kerf::cli
