#include "app/cli/certificate.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "app/cli/version.h"
#include "engine/process/program.h"
#include "engine/support/digest.h"
#include "engine/support/read_json.h"

namespace kerf::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t mostAnswer = 256 << 20;
constexpr std::string_view unsteadyKeys[] = {"ms",    "elapsed",  "run",     "started_at",      "store",
                                             "notes", "warnings", "seconds", "bytes_per_second"};
constexpr const char* keptVariables[] = {"PATH",          "HOME",           "TMPDIR",    "LD_LIBRARY_PATH",
                                         "XDG_DATA_HOME", "XDG_CACHE_HOME", "KERF_STORE"};

bool isUnsteady(std::string_view key) {
  return key.ends_with("_ms") || key.ends_with("_at") || std::ranges::find(unsteadyKeys, key) != std::end(unsteadyKeys);
}

std::string hexOf(std::string_view bytes) {
  std::string hex;
  for (const char byte : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return hex;
}

/// Of a regular file; none of a pipe or a device, which may never end.
std::string sumOf(const fs::path& file, const std::stop_token& stop) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return {};
  std::ifstream stream(file, std::ios::binary);
  Sha256 sum;
  for (std::string piece(1 << 20, '\0'); stream && !stop.stop_requested();) {
    stream.read(piece.data(), std::streamsize(piece.size()));
    sum.add(std::string_view(piece).substr(0, std::size_t(stream.gcount())));
  }
  return hexOf(sum.bytes());
}

/// Of a folder: of the names and sums of all files in it.
std::string sumOfAny(const fs::path& path, const std::stop_token& stop) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return sumOf(path, stop);
  std::vector<std::string> rows;
  for (const auto& entry : fs::recursive_directory_iterator(path, ignored))
    if (entry.is_regular_file(ignored))
      rows.push_back(entry.path().lexically_relative(path).generic_string() + " " + sumOf(entry.path(), stop));
  std::ranges::sort(rows);
  std::string all;
  for (const auto& row : rows) all += row + "\n";
  return hexOf(sha256Bytes(all));
}

Json filesJson(const Tool& tool, const Json& arguments, const std::stop_token& stop) {
  Json files = Json::array();
  std::error_code ignored;
  for (const auto& file : filesOf(tool, arguments))
    if (fs::exists(file, ignored)) files.push_back({{"path", file.string()}, {"sha256", sumOfAny(file, stop)}});
  return files;
}

/// Files that a certificate names and that are not there.
Result<void> allThere(const Json& certificate) {
  std::error_code ignored;
  for (const Json& file : certificate["files"]) {
    const Json path = file.is_object() ? file.value("path", Json()) : Json();
    if (path.is_string() && !fs::exists(path.get<std::string>(), ignored))
      return fail(ErrorCode::NotFound, "{} is not there; the verdict was given in {}", path.get<std::string>(),
                  certificate.value("folder", Json()).dump());
  }
  return {};
}

std::string sumOfAnswer(const Json& answer) {
  return hexOf(sha256Bytes(answer.dump(-1, ' ', false, Json::error_handler_t::replace)));
}

/// The first places where two answers differ.
void compareJson(const Json& before, const Json& now, const std::string& where, std::vector<std::string>& differences) {
  constexpr std::size_t most = 20;
  if (before == now || differences.size() >= most) return;
  if (before.is_object() && now.is_object()) {
    for (const auto& [key, value] : before.items())
      compareJson(value, now.value(key, Json()), where + "/" + key, differences);
    for (const auto& [key, value] : now.items())
      if (!before.contains(key)) compareJson(Json(), value, where + "/" + key, differences);
  } else if (before.is_array() && now.is_array() && before.size() == now.size()) {
    for (std::size_t i = 0; i < before.size(); ++i)
      compareJson(before[i], now[i], fmt::format("{}/{}", where, i), differences);
  } else {
    differences.push_back(fmt::format("{}: {} was {}", where.empty() ? "/" : where, now.dump().substr(0, 200),
                                      before.dump().substr(0, 200)));
  }
}

}  // namespace

Result<ToolAnswer> callTool(const Tool& tool, const Json& arguments, const std::string& store,
                            std::chrono::milliseconds timeout, std::stop_token stop) {
  KERF_TRY(auto line, toolLine(tool, arguments));
  std::vector<std::string> command{"/usr/bin/env", "-i"};
  for (const char* name : keptVariables)
    if (const char* value = std::getenv(name)) command.push_back(fmt::format("{}={}", name, value));
  command.insert(command.end(), {fs::read_symlink("/proc/self/exe").string()});
  std::vector<std::string> common{"--json"};
  if (!store.empty()) common.push_back("--store=" + store);
  line.insert(line.begin() + std::ptrdiff_t(tool.entry.words.size()), common.begin(), common.end());
  command.insert(command.end(), line.begin(), line.end());
  KERF_TRY(auto ended, runProgram(command, {}, timeout, stop, mostAnswer));
  return ToolAnswer{ended.status, readJson<Json>(ended.output), std::move(ended.errors)};
}

Json steadyPart(const Json& answer) {
  if (answer.is_array()) {
    Json list = Json::array();
    for (const Json& one : answer) list.push_back(steadyPart(one));
    return list;
  }
  if (!answer.is_object()) return answer;
  Json object = Json::object();
  for (const auto& [key, value] : answer.items())
    if (!isUnsteady(key)) object[key] = steadyPart(value);
  return object;
}

Json certificateOf(const Tool& tool, const Json& arguments, const ToolAnswer& answer) {
  std::error_code ignored;
  return {{"kerf_certificate", 1},
          {"kerf", versionNumber()},
          {"tool", tool.name()},
          {"arguments", arguments},
          {"folder", fs::current_path(ignored).string()},
          {"files", filesJson(tool, arguments, {})},
          {"exit_code", answer.status},
          {"answer_sha256", sumOfAnswer(steadyPart(answer.json))},
          {"answer", steadyPart(answer.json)}};
}

Result<Recheck> recheck(const CLI::App& root, const Json& certificate, const std::string& store,
                        std::chrono::milliseconds timeout, std::stop_token stop) {
  const auto bad = [] { return fail(ErrorCode::BadInput, "this is no certificate of kerf"); };
  if (!certificate.is_object() || certificate.value("kerf_certificate", Json()) != 1) return bad();
  const Json name = certificate.value("tool", Json()), arguments = certificate.value("arguments", Json()),
             files = certificate.value("files", Json());
  const Json status = certificate.value("exit_code", Json());
  if (!name.is_string() || !arguments.is_object() || !files.is_array() || !status.is_number_integer() ||
      !certificate.contains("answer") || status < 0 || status > 1)
    return bad();
  const auto tools = toolTable(root, false);
  const Tool* tool = findTool(tools, name.get<std::string>());
  if (tool == nullptr || !tool->row->judges)
    return fail(ErrorCode::BadUsage, "{} gives no verdict that can be repeated", name.dump());
  Recheck found{tool->name(), true, 0, status.get<int>(), {}};
  KERF_CHECK(allThere(certificate));
  if (certificate.value("answer_sha256", Json()) != sumOfAnswer(certificate["answer"]))
    found.differences.emplace_back("/answer_sha256: the answer in the certificate was changed");
  const Json now = filesJson(*tool, arguments, stop);
  if (stop.stop_requested()) return fail(ErrorCode::Cancelled, "stopped");
  if (now != files) compareJson(files, now, "/files", found.differences);
  KERF_TRY(const auto answer, callTool(*tool, arguments, store, timeout, stop));
  if (answer.status > 1 || answer.json.is_discarded())
    return fail(ErrorCode::BadInput, "the command gives no verdict now: {}", answer.errors);
  found.status = answer.status;
  if (found.status != found.expectedStatus)
    found.differences.push_back(fmt::format("exit code: {} was {}", found.status, found.expectedStatus));
  compareJson(certificate["answer"], steadyPart(answer.json), "", found.differences);
  found.same = found.differences.empty();
  return found;
}

}  // namespace kerf::cli
