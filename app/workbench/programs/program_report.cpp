// The report of a captured program, out of its log.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>

#include <nlohmann/json.hpp>

#include "app/workbench/programs/stored_program.h"
#include "engine/support/read_json.h"

namespace kerf::workbench {

namespace {

using nlohmann::json;

constexpr std::size_t mostNodeLines = 64;  ///< of the stack of a node, the innermost ones

// Fields of a log that anybody may have written: what is not of the asked kind is not there.

const json& fieldOf(const json& object, const char* name) {
  static const json nothing;
  if (!object.is_object()) return nothing;
  const auto found = object.find(name);
  return found == object.end() ? nothing : *found;
}
std::string textField(const json& object, const char* name) {
  const json& field = fieldOf(object, name);
  return field.is_string() ? field.get<std::string>() : std::string();
}
std::int64_t numberOf(const json& value, std::int64_t otherwise = 0) {
  return value.is_number_integer() ? value.get<std::int64_t>() : otherwise;
}
double realField(const json& object, const char* name, double otherwise) {
  const json& field = fieldOf(object, name);
  return field.is_number() ? field.get<double>() : otherwise;
}
const json& listField(const json& object, const char* name) {
  static const json none = json::array();
  const json& field = fieldOf(object, name);
  return field.is_array() ? field : none;
}
std::string textAt(const json& list, std::size_t at) {
  return list.is_array() && at < list.size() && list[at].is_string() ? list[at].get<std::string>() : std::string();
}
std::vector<std::string> textsOf(const json& list) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; list.is_array() && i < list.size(); ++i) texts.push_back(textAt(list, i));
  return texts;
}
/// An index into `count` rows; -1 for anything else.
int placeOf(const json& value, std::size_t count) {
  const std::int64_t number = numberOf(value, -1);
  return number >= 0 && std::size_t(number) < count ? int(number) : -1;
}

/// 3 of "bug.py:3 in f" where that is the program's file; else 0.
std::int64_t lineIn(const std::string& file, const std::string& place) {
  if (!place.starts_with(file + ":")) return 0;
  std::int64_t line = 0;
  const char* const start = place.data() + file.size() + 1;
  std::from_chars(start, place.data() + place.size(), line);
  return std::max<std::int64_t>(line, 0);
}

std::int64_t innermostLine(const std::string& file, const std::vector<std::string>& stack) {
  for (auto at = stack.rbegin(); at != stack.rend(); ++at)
    if (const std::int64_t line = lineIn(file, *at); line > 0) return line;
  return 0;
}

std::vector<ProgramInstruction> bytecodeOf(const json& rows) {
  std::vector<ProgramInstruction> made;
  for (const json& row : rows) {
    if (!row.is_array() || row.size() < 5) continue;
    made.push_back({numberOf(row[0]), numberOf(row[1]), textAt(row, 2), textAt(row, 3),
                    row[4].is_boolean() && row[4].get<bool>()});
  }
  return made;
}

/// "L['n'] == 3" of "EQUALS_MATCH: L['n'] == 3".
std::string checkedOf(const std::string& leaf) {
  const std::size_t start = leaf.find(": ");
  return start == std::string::npos ? leaf : leaf.substr(start + 2);
}

std::vector<ProgramGuard> guardsOf(const json& frame) {
  const json &guards = listField(frame, "guards"), &costs = listField(frame, "guard_costs");
  std::vector<ProgramGuard> made;
  for (std::size_t i = 0; i < guards.size(); ++i) {
    const json cost = i < costs.size() ? costs[i] : json();
    made.push_back({textAt(guards[i], 0), textAt(guards[i], 2), checkedOf(textAt(guards[i], 1)),
                    textField(cost, "asked"), realField(cost, "ns", -1)});
  }
  return made;
}

ProgramFrame frameOf(const json& frame, const std::string& file) {
  ProgramFrame made;
  made.id = textField(frame, "id");
  made.name = textField(frame, "frame");
  made.at = textField(frame, "at");
  made.line = lineIn(file, made.at);
  made.runs = numberOf(fieldOf(frame, "runs"));
  made.milliseconds = realField(frame, "compile_ms", -1);
  made.calls = textsOf(listField(frame, "calls"));
  made.guards = guardsOf(frame);
  const json& code = fieldOf(frame, "bytecode");
  made.original = bytecodeOf(listField(code, "original"));
  made.modified = bytecodeOf(listField(code, "modified"));
  return made;
}

ProgramBreak breakOf(const json& item, const std::string& file, std::size_t frames, bool isSkip) {
  ProgramBreak made;
  made.type = textField(item, "type");
  made.id = textField(item, "id");
  made.explanation = textField(item, "explanation");
  made.context = textField(item, "context");
  made.hints = textsOf(listField(item, "hints"));
  made.stack = textsOf(listField(item, "stack"));
  made.line = innermostLine(file, made.stack);
  made.frame = placeOf(fieldOf(item, "frame"), frames);
  made.isSkip = isSkip;
  return made;
}

ReportedGraph graphOf(const json& graph, const std::string& file) {
  ReportedGraph made;
  made.name = textField(graph, "name");
  made.ranBy = textField(graph, "ran_by");
  std::vector<std::vector<std::int64_t>> stacks;
  for (const json& stack : listField(graph, "stacks")) {
    auto& lines = stacks.emplace_back();
    for (const std::string& place : textsOf(stack))
      if (const std::int64_t line = lineIn(file, place); line > 0) lines.push_back(line);
    if (lines.size() > mostNodeLines) lines.erase(lines.begin(), lines.end() - std::ptrdiff_t(mostNodeLines));
  }
  const json &nodes = listField(graph, "nodes"), &stackOf = listField(graph, "stack_of");
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const int stack = i < stackOf.size() ? placeOf(stackOf[i], stacks.size()) : -1;
    made.nodes.push_back({textAt(nodes[i], 1), stack >= 0 ? stacks[std::size_t(stack)] : std::vector<std::int64_t>()});
  }
  return made;
}

/// Which frame calls each graph, and where it is kept.
void linkGraphs(ProgramReport& report, const std::vector<std::string>& kept) {
  std::map<std::string, int> byName, keptAt;
  for (std::size_t i = 0; i < kept.size(); ++i) keptAt.emplace(kept[i], int(i));
  for (std::size_t i = 0; i < report.graphs.size(); ++i) {
    byName.emplace(report.graphs[i].name, int(i));
    const auto found = keptAt.find(report.graphs[i].name);
    if (found != keptAt.end()) report.graphs[i].stored = found->second;
  }
  for (std::size_t i = 0; i < report.frames.size(); ++i)
    for (const std::string& call : report.frames[i].calls)
      if (const auto found = byName.find(call); found != byName.end()) {
        report.frames[i].graphs.push_back(found->second);
        report.graphs[std::size_t(found->second)].frame = int(i);
      }
}

void readRecompiles(ProgramReport& report, const json& captured, const std::string& file) {
  for (const json& item : listField(captured, "recompiles")) {
    ProgramRecompile made{textField(item, "function"), textField(item, "at"), textField(item, "guard"), 0,
                          placeOf(fieldOf(item, "frame"), report.frames.size())};
    made.line = lineIn(file, made.at);
    if (made.frame >= 0) report.frames[std::size_t(made.frame)].because = made.guard;
    report.recompiles.push_back(std::move(made));
  }
}

}  // namespace

ProgramReport programReport(const std::string& log) {
  const json whole = readJson<json>(log);
  ProgramReport report;
  report.path = textField(whole, "path");
  report.source = textField(whole, "source");
  report.output = textField(whole, "output");
  report.errors = textField(whole, "errors");
  report.exception = textField(whole, "exception");
  report.exitStatus = numberOf(fieldOf(whole, "exit_status"));
  report.line = numberOf(fieldOf(whole, "line"));
  report.notes = textsOf(listField(whole, "notes"));
  const std::string file = std::filesystem::path(report.path).filename().string();
  const json& captured = fieldOf(whole, "captured");
  for (const json& frame : listField(captured, "frames")) report.frames.push_back(frameOf(frame, file));
  for (const json& item : listField(captured, "breaks"))
    report.breaks.push_back(breakOf(item, file, report.frames.size(), false));
  for (const json& item : listField(captured, "skips"))
    report.breaks.push_back(breakOf(item, file, report.frames.size(), true));
  for (const json& graph : listField(captured, "graphs")) report.graphs.push_back(graphOf(graph, file));
  readRecompiles(report, captured, file);
  linkGraphs(report, textsOf(listField(whole, "kept_graphs")));
  return report;
}

Result<ProgramReport> perform(Workbench& bench, const ProgramReportRequest& request, const Job& /*job*/) {
  KERF_TRY(const std::string log, storedProgramLog(bench, request.capture));
  ProgramReport report = programReport(log);
  report.capture = request.capture;
  return report;
}

}  // namespace kerf::workbench
