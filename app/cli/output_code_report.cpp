#include "app/cli/show_parts.h"

#include <map>
#include <sstream>

#include <fmt/ranges.h>

#include "app/cli/json_forms.h"

namespace kerf::cli {

namespace {

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
  return {{"graph", graph}, {"programs", jsonOf(programs)}};
}

}  // namespace kerf::cli
