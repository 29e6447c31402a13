#include "app/workbench/programs/recorded_log.h"

#include <algorithm>
#include <functional>
#include <regex>
#include <set>
#include <vector>

#include <fmt/ranges.h>

namespace kerf::workbench {

namespace {

using nlohmann::json;
using Lines = std::vector<std::string>;

const json& itemsOf(const json& object, const char* name) {
  static const json none = json::array();
  const auto found = object.find(name);
  return found != object.end() && found->is_array() ? *found : none;
}

std::string textAt(const json& row, std::size_t index) {
  return row.is_array() && row.size() > index && row[index].is_string() ? row[index].get<std::string>() : std::string();
}

/// A list in one of the two, by call and at the end.
Lines itemsByCall(const json& recorded, const char* name, const std::function<std::string(const json&)>& text) {
  Lines lines;
  const auto add = [&](const json& holder) {
    for (const json& item : itemsOf(holder, name))
      if (std::string line = text(item); !line.empty()) lines.push_back(std::move(line));
  };
  add(recorded);
  for (const json& call : itemsOf(recorded, "calls")) add(call);
  return lines;
}

/// The first line in which two lists differ.
std::string compareLines(const std::string& what, const Lines& recorded, const Lines& given) {
  for (std::size_t k = 0; k < std::max(recorded.size(), given.size()); ++k) {
    const std::string wanted = k < recorded.size() ? recorded[k] : "nothing more";
    const std::string got = k < given.size() ? given[k] : "nothing more";
    if (wanted != got)
      return fmt::format("{} {} of {}: {}, recorded {} (of {})", what, k, given.size(), got, wanted, recorded.size());
  }
  return "";
}

/// Nodes as "call_function operator.add"; placeholders are told by their sources.
Lines nodeLines(const json& nodes, std::size_t target) {
  Lines lines;
  for (const json& node : nodes)
    if (const std::string op = textAt(node, 0); op != "placeholder") lines.push_back(op + " " + textAt(node, target));
  return lines;
}

/// The recorder imported the program as a module of its name; here it is __main__.
json withModuleName(json nodes, const std::string& name) {
  for (json& node : nodes)
    if (const std::string target = textAt(node, 2); target.starts_with("__main__.")) node[2] = name + target.substr(8);
  return nodes;
}

std::string compareNested(const json& recorded, const json& given) {
  const json wanted = recorded.value("subgraphs", json::object());
  const json got = given.value("subgraphs", json::object());
  for (const auto& [name, nodes] : wanted.items()) {
    if (!got.contains(name)) return name + " is not given";
    if (std::string text = compareLines(name + " node", nodeLines(nodes, 3), nodeLines(got[name], 2)); !text.empty())
      return text;
  }
  return got.size() == wanted.size() ? "" : fmt::format("{} nested graphs, recorded {}", got.size(), wanted.size());
}

std::string compareGraph(const json& recorded, const json& given, const std::string& name) {
  const Lines wanted = nodeLines(itemsOf(recorded, "nodes"), 3);
  if (std::string text = compareLines("node", wanted, nodeLines(withModuleName(itemsOf(given, "nodes"), name), 2));
      !text.empty())
    return text;
  const Lines sources = itemsOf(recorded, "sources").get<Lines>();
  if (std::string text = compareLines("placeholder", sources, itemsOf(given, "sources").get<Lines>()); !text.empty())
    return text;
  return compareNested(recorded, given);
}

std::string compareGraphs(const json& recorded, const json& log) {
  const json& wanted = itemsOf(recorded, "graphs");
  const json& got = itemsOf(log, "graphs");
  for (std::size_t k = 0; k < std::min(wanted.size(), got.size()); ++k)
    if (std::string text = compareGraph(wanted[k], got[k], recorded.value("name", "")); !text.empty())
      return fmt::format("graph {}: {}", k, text);
  return wanted.size() == got.size() ? "" : fmt::format("{} graphs, recorded {}", got.size(), wanted.size());
}

/// "file.py:3" of "file.py:3 in f: code".
std::string placeOf(const std::string& line) { return line.substr(0, line.find(" in ")); }

/// The innermost line of the program itself: code of libraries has other lines.
std::string userPlace(const json& stack, const std::string& file) {
  for (std::size_t k = stack.size(); k-- > 0;)
    if (const std::string line = textAt(stack, k); line.starts_with(file + ":")) return placeOf(line);
  return "outside of " + file;
}

Lines breakLines(const json& holder, const std::string& file) {
  return itemsByCall(holder, "breaks", [&](const json& item) {
    const std::string reason = item.value("reason", "");
    return userPlace(itemsOf(item, "stack"), file) + ": " + reason.substr(0, reason.find('\n'));
  });
}

/// "Recompiling function f in file.py:3\n    triggered by …\n    - 0/0: guard".
std::string recordedRecompile(const json& entry) {
  if (textAt(entry, 0) != "recompiles") return "";
  const std::string text = textAt(entry, 1);
  const std::string first = text.substr(0, text.find('\n'));
  constexpr std::string_view start = "Recompiling function ";
  return first.starts_with(start) ? first.substr(start.size()) : first;
}

/// The guard that failed for the newest entry, without the code that asked for it.
std::string recordedReason(const json& entry) {
  if (textAt(entry, 0) != "recompiles") return "";
  const std::string text = textAt(entry, 1);
  const std::size_t at = text.find("\n    - ");
  if (at == std::string::npos) return "none";
  std::string line = text.substr(at + 7, text.find('\n', at + 7) - at - 7);
  line = line.substr(line.find(": ") + 2);
  line = line.substr(0, line.find("  #"));
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

/// "at 0x7f9b63e44ed0", as recorded.
std::string withoutAddresses(std::string text) {
  for (std::size_t at = 0; (at = text.find(" at 0x", at)) != std::string::npos; at += 6) {
    const std::size_t end = text.find_first_not_of("0123456789abcdef", at + 6);
    text.replace(at + 6, (end == std::string::npos ? text.size() : end) - at - 6, "ADDR");
  }
  return text;
}

/// Sources of the program's own values: those of PyTorch's modules and of builtins differ from library to library.
bool isOfUser(const std::string& source) {
  if (source.empty() || source.find("__import") != std::string::npos) return false;
  return source.find("__builtins_dict__") == std::string::npos && source.find("utils_device") == std::string::npos;
}

/// "__subclass_Name_81256_c1": PyTorch numbers these globals by the address of the class.
std::string withoutClassNumber(const std::string& source) {
  static const std::regex numbered(R"((__subclass_\w+?)_\d+_c\d+)");
  return std::regex_replace(source, numbered, "$1");
}

std::set<std::string> recordedGuards(const json& explain) {
  std::set<std::string> guards;
  for (const json& pair : itemsOf(explain, "out_guards"))
    if (isOfUser(textAt(pair, 1))) guards.insert(textAt(pair, 0) + " " + withoutClassNumber(textAt(pair, 1)));
  return guards;
}

std::set<std::string> givenGuards(const json& log, std::size_t firstFrames) {
  std::set<std::string> guards;
  const json& frames = itemsOf(log, "frames");
  for (std::size_t k = 0; k < std::min(frames.size(), firstFrames); ++k)
    for (const json& guard : frames[k].value("empty", false) ? json::array() : itemsOf(frames[k], "guards"))
      if (isOfUser(textAt(guard, 2))) guards.insert(textAt(guard, 0) + " " + textAt(guard, 2));
  return guards;
}

constexpr std::ptrdiff_t shownGuards = 24;

std::string compareGuards(const json& explain, const json& log, std::size_t firstFrames) {
  const auto wanted = recordedGuards(explain);
  const auto got = givenGuards(log, firstFrames);
  Lines missing, more;
  std::ranges::set_difference(wanted, got, std::back_inserter(missing));
  // A list that was cut when it was recorded says nothing of what is more.
  const bool isCut = explain.value("out_guards_total", std::size_t{0}) > itemsOf(explain, "out_guards").size();
  if (!isCut) std::ranges::set_difference(got, wanted, std::back_inserter(more));
  if (missing.empty() && more.empty()) return "";
  return fmt::format("of {} recorded {} are missing ({}), {} are more ({})", wanted.size(), missing.size(),
                     fmt::join(missing.begin(), missing.begin() + std::min(std::ssize(missing), shownGuards), "; "),
                     more.size(),
                     fmt::join(more.begin(), more.begin() + std::min(std::ssize(more), shownGuards), "; "));
}

}  // namespace

std::map<std::string_view, std::string> compareLog(const json& recorded, const json& log, std::size_t firstFrames) {
  const std::string file = recorded.value("name", "") + ".py";
  const std::size_t wanted = itemsOf(recorded, "graphs").size();
  const std::size_t got = itemsOf(log, "graphs").size();
  std::map<std::string_view, std::string> differences;
  differences["graphs"] = wanted == got ? "" : fmt::format("{}, recorded {}", got, wanted);
  differences["op_lists"] = compareGraphs(recorded, log);
  differences["breaks"] = compareLines("break", breakLines(recorded, file), breakLines(log, file));
  Lines recompiles, reasons;
  for (const json& item : itemsOf(log, "recompiles")) {
    recompiles.push_back(item.value("function", "") + " in " + item.value("at", ""));
    reasons.push_back(withoutAddresses(item.value("guard", "")));
  }
  differences["recompiles"] = compareLines("recompile", itemsByCall(recorded, "logs", recordedRecompile), recompiles);
  differences["recompile_reasons"] = compareLines("reason", itemsByCall(recorded, "logs", recordedReason), reasons);
  const json explain = recorded.value("explain", json());
  if (explain.is_object() && explain.contains("out_guards"))
    differences["guards"] = compareGuards(explain, log, firstFrames);
  return differences;
}

}  // namespace kerf::workbench
