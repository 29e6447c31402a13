#include "app/cli/capture_program_report.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

#include "app/cli/text_table.h"
#include "engine/support/log.h"
#include "engine/support/printable.h"
#include "engine/support/read_json.h"

namespace kerf::cli {

namespace {

/// What Dynamo's log holds, as the engine wrote it.
Json capturedJson(const ProgramDoc& doc) {
  Json log = readJson<Json>(doc.captured);
  return log.is_object() ? log : Json::object();
}

std::string textIn(const Json& json, const char* name) {
  return json.contains(name) && json[name].is_string() ? escapedText(json[name].get<std::string>()) : std::string();
}

Json listIn(const Json& json, const char* name) { return json.value(name, Json::array()); }

void printGuards(const Json& frame) {
  for (const Json& guard : listIn(frame, "guards"))
    if (guard.size() == 3) fmt::print("  guard {}\n", escapedText(guard[1].get<std::string>()));
}

void printFrames(const Json& log, bool all) {
  for (const Json& frame : listIn(log, "frames")) {
    const Json guards = listIn(frame, "guards");
    fmt::print("frame {} at {}: calls", textIn(frame, "frame"), textIn(frame, "at"));
    for (const Json& call : listIn(frame, "calls")) fmt::print(" {}", escapedText(call.get<std::string>()));
    fmt::print("; {} guards\n", guards.size());
    if (all) printGuards(frame);
  }
}

void printBreaks(const Json& log, bool all) {
  for (const Json& item : listIn(log, "breaks")) {
    const Json stack = listIn(item, "stack");
    const std::string place = stack.empty() ? "" : escapedText(stack.back().get<std::string>());
    fmt::print("break at {}: {}\n", place, textIn(item, "type"));
    if (!all) continue;
    std::string reason = item.value("reason", "");
    for (std::size_t at = 0; at < reason.size();) {
      const std::size_t end = std::min(reason.find('\n', at), reason.size());
      fmt::print("  {}\n", escapedText(reason.substr(at, end - at)));
      at = end + 1;
    }
    for (const Json& line : stack) fmt::print("  called from {}\n", escapedText(line.get<std::string>()));
  }
}

void printCaptured(const Json& log, bool all) {
  const auto count = [&](const char* name) { return std::int64_t(listIn(log, name).size()); };
  for (const Json& item : listIn(log, "exported")) fmt::print("exported: {}\n", textIn(item, "name"));
  if (count("frames") + count("graphs") + count("breaks") == 0) return;
  fmt::print("\n{}, {}, {}, {}\n", counted(count("frames"), "frame"), counted(count("graphs"), "graph"),
             counted(count("breaks"), "graph break"), counted(count("recompiles"), "recompile"));
  printFrames(log, all);
  printBreaks(log, all);
  for (const Json& item : listIn(log, "recompiles"))
    fmt::print("recompile of {} at {}: {}\n", textIn(item, "function"), textIn(item, "at"), textIn(item, "guard"));
}

void printStored(const ProgramDoc& doc, const Json& log) {
  const StoredProgram stored = storedProgram(doc);
  if (stored.graphs > 0)
    fmt::print("stored as {0}, {1}: `kerf show {0} --format program`, `kerf compare {0}/g1`\n", stored.capture,
               counted(std::int64_t(stored.graphs), "graph"));
  for (const Json& note : listIn(log, "notes")) fmt::print("note: {}\n", escapedText(note.get<std::string>()));
}

/// Each line begins with its rank, as launchers of several processes print them.
void printLinesOf(std::FILE* to, std::size_t rank, const std::string& text) {
  const std::string printable = printableText(text);
  for (std::size_t at = 0; at < printable.size();) {
    const std::size_t end = std::min(printable.find('\n', at), printable.size());
    fmt::print(to, "[rank{}]: {}\n", rank, printable.substr(at, end - at));
    at = end + 1;
  }
}

/// What was compiled, once for all ranks that made the same.
void printRankCaptures(const ProgramDoc& doc, bool all) {
  std::vector<std::size_t> left(doc.ranks.size());
  std::iota(left.begin(), left.end(), std::size_t{0});
  while (!left.empty()) {
    const ProgramDoc& first = doc.ranks[left.front()];
    std::vector<std::size_t> same;
    for (const std::size_t rank : left)
      if (doc.ranks[rank].capture == first.capture) same.push_back(rank);
    std::erase_if(left, [&](std::size_t rank) { return std::ranges::find(same, rank) != same.end(); });
    const Json log = capturedJson(first);
    if (listIn(log, "frames").empty() && listIn(log, "exported").empty() && listIn(log, "breaks").empty()) continue;
    fmt::print("\nrank{} {}:", same.size() == 1 ? "" : "s", fmt::join(same, ", "));
    printCaptured(log, all);
    printStored(first, log);
  }
}

/// How the ranks' graphs are run together: by the first one's capture.
void printTogether(const ProgramDoc& doc) {
  const auto isKept = [](const ProgramDoc& rank) { return storedProgram(rank).graphs > 0; };
  if (!std::ranges::all_of(doc.ranks, isKept)) return;
  const Json graphs = listIn(capturedJson(doc.ranks.front()), "graphs");
  if (graphs.empty()) return;
  fmt::print("\nall ranks together: `kerf compare {}#{}`\n", storedProgram(doc.ranks.front()).capture,
             escapedText(graphs[0].value("name", "")));
}

void printEachRank(const ProgramDoc& doc, bool all) {
  for (std::size_t rank = 0; rank < doc.ranks.size(); ++rank) printLinesOf(stdout, rank, doc.ranks[rank].output);
  for (std::size_t rank = 0; rank < doc.ranks.size(); ++rank) {
    const ProgramDoc& one = doc.ranks[rank];
    printLinesOf(stderr, rank, one.errors.empty() && one.exitStatus != 0 ? one.exception : one.errors);
    if (one.isOutputCut) fmt::print(stderr, "rank {} printed more than Kerf keeps; the rest is lost\n", rank);
  }
  printRankCaptures(doc, all);
  printTogether(doc);
}

}  // namespace

StoredProgram storedProgram(const ProgramDoc& doc) {
  const Json stored = capturedJson(doc).value("stored", Json::object());
  return {stored.value("capture", ""), stored.value("graphs", std::size_t{0})};
}

Json programJson(const ProgramDoc& doc) {
  Json json = {{"path", doc.path},
               {"output", doc.output},
               {"errors", doc.errors},
               {"exit_status", doc.exitStatus},
               {"exception", orNull(doc.exception)},
               {"line", doc.line > 0 ? Json(doc.line) : Json()},
               {"output_cut", doc.isOutputCut},
               {"captured", capturedJson(doc)},
               {"elapsed_ms", std::chrono::duration<double, std::milli>(doc.time).count()}};
  if (doc.ranks.empty()) return json;
  json["ranks"] = Json::array();
  for (const ProgramDoc& rank : doc.ranks) json["ranks"].push_back(programJson(rank));
  return json;
}

void printProgram(const ProgramDoc& doc, bool all) {
  if (!doc.ranks.empty()) return printEachRank(doc, all);
  fmt::print("{}", printableText(doc.output));
  if (!doc.errors.empty()) fmt::print(stderr, "{}", printableText(doc.errors));
  const Json log = capturedJson(doc);
  printCaptured(log, all);
  printStored(doc, log);
  const bool madeNothing = listIn(log, "frames").empty() && listIn(log, "exported").empty();
  if (madeNothing && doc.exitStatus == 0)
    fmt::print("nothing was compiled: name a function, as in `kerf capture {}:NAME`\n", escapedText(doc.path));
  if (doc.isOutputCut) fmt::print(stderr, "the program printed more than Kerf keeps; the rest is lost\n");
}

}  // namespace kerf::cli
