#include "app/workbench/programs/explained_programs.h"

#include <algorithm>
#include <fstream>

#include "engine/accuracy/closeness.h"
#include "engine/support/read_json.h"
#include "engine/tensor/safetensors.h"

namespace kerf::workbench {

namespace {

using nlohmann::json;

/// "add" of "<built-in function add>", "<built-in method add of type object>", "<function add at 0x12>", "operator.add".
std::string lastName(std::string target) {
  for (const std::string_view start : {"<built-in function ", "<built-in method ", "<function ", "<method '"})
    if (target.starts_with(start)) target = target.substr(start.size());
  target = target.substr(0, target.find_first_of(" >'"));
  return target.substr(target.rfind('.') + 1);
}

std::string opText(const json& node, std::size_t target) {
  if (!node.is_array() || node.size() <= target) return "";
  const std::string op = node[0].get<std::string>();
  return op == "placeholder" || op == "output" ? op : op + " " + lastName(node[target].get<std::string>());
}

std::string compareNodes(std::size_t number, const json& wanted, const json& got) {
  for (std::size_t k = 0; k < std::max(wanted.size(), got.size()); ++k) {
    const std::string a = k < wanted.size() ? opText(wanted[k], 1) : "nothing more";
    const std::string b = k < got.size() ? opText(got[k], 2) : "nothing more";
    if (a != b) return fmt::format("graph {}: node {} is {}, recorded {}", number, k, b, a);
  }
  return "";
}

std::string compareOps(const json& explained, const json& log) {
  const json &wanted = explained.at("graphs"), &got = log.at("graphs");
  for (std::size_t k = 0; k < std::min(wanted.size(), got.size()); ++k)
    if (std::string text = compareNodes(k, wanted[k], got[k].at("nodes")); !text.empty()) return text;
  return wanted.size() == got.size() ? "" : fmt::format("{} graphs, recorded {}", got.size(), wanted.size());
}

std::string compareBreaks(const json& explained, const json& log) {
  const json &wanted = explained.at("break_reasons"), &got = log.at("breaks");
  for (std::size_t k = 0; k < std::max(wanted.size(), got.size()); ++k) {
    const std::string reason = k < wanted.size() ? wanted[k].get<std::string>() : "nothing more";
    const std::string type = k < got.size() ? got[k].value("type", "") : "nothing more";
    // A jump on a tensor is told by the name of the instruction's handler.
    const bool isJump = reason.starts_with("generic_jump ") && type == "Data-dependent branching";
    if (!isJump && reason.substr(0, reason.find('\n')) != type)
      return fmt::format("break {}: {}, recorded {}", k, type, reason);
  }
  return "";
}

}  // namespace

std::vector<ExplainedProgram> explainedIn(const std::filesystem::path& folder) {
  std::ifstream file(folder / "expected.json");
  const json all = file ? readJson<json>(file) : json();
  std::vector<ExplainedProgram> found;
  if (!all.is_object() || !all.contains("programs") || !all["programs"].is_array()) return found;
  for (const json& row : all["programs"]) {
    const auto path = folder / (row.value("name", "") + ".py");
    std::error_code ignored;
    if (row.contains("graphs") && row.contains("break_reasons") && std::filesystem::exists(path, ignored))
      found.push_back({path, row});
  }
  return found;
}

std::map<std::string_view, std::string> compareExplained(const json& explained, const json& log) {
  if (!log.is_object() || !log.contains("graphs") || !log.contains("breaks"))
    return {{"graphs", "nothing was captured"}};
  const std::size_t wanted = explained.at("graphs").size(), got = log["graphs"].size();
  return {{"graphs", wanted == got ? "" : fmt::format("{}, recorded {}", got, wanted)},
          {"op_lists", compareOps(explained, log)},
          {"breaks", compareBreaks(explained, log)}};
}

std::string compareOutputs(const std::filesystem::path& program, const Value& given) {
  auto recorded = readSafetensors(std::filesystem::path(program).replace_extension(".out.safetensors"));
  if (!recorded) return recorded.error().text();
  if (!given.isList() || given.list().size() < 3 || !given.list()[2].isList())
    return "the program's call gave no answer";
  const ValueList& tensors = given.list()[2].list();
  for (std::size_t k = 0; k < recorded->tensors.size(); ++k) {
    if (k >= tensors.size() || !tensors[k].isTensor()) return fmt::format("output {} is not given", k);
    const auto close = allClose(tensors[k].tensor(), recorded->tensors[k].second, 1e-5, true);
    if (!close) return fmt::format("output {}: {}", k, close.error().text());
    if (!close->close) return fmt::format("output {}: {:.3g} times the tolerance away", k, close->worstRatio);
  }
  return "";
}

}  // namespace kerf::workbench
