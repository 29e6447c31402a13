// kerf certify and kerf recheck: a verdict as a file, and whether it still holds in a clean process.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "app/cli/certificate.h"
#include "app/cli/commands.h"
#include "app/cli/interrupts.h"
#include "app/cli/json_of.h"
#include "app/cli/options.h"
#include "app/cli/output_file.h"
#include "engine/support/read_json.h"

namespace kerf::cli {

namespace {

constexpr std::chrono::minutes usualTime{30};
constexpr std::uintmax_t mostCertificate = 256 << 20;

struct Certified {
  std::string place;
  std::vector<std::string> command;
};

Result<const Tool*> judgingTool(std::span<const Tool> tools, std::vector<std::string>& words) {
  for (const std::size_t count : {1, 2}) {
    if (words.size() < count) break;
    const Tool* tool = findTool(tools, count == 1 ? words[0] : words[0] + "_" + words[1]);
    if (tool == nullptr || !tool->row->judges) continue;
    words.erase(words.begin(), words.begin() + std::ptrdiff_t(count));
    return tool;
  }
  std::string names;
  for (const auto& tool : tools)
    if (tool.row->judges) names += (names.empty() ? "" : ", ") + tool.entry.name();
  return fail(ErrorCode::BadUsage, "only these give a verdict that can be certified: {}", names);
}

Result<int> runCertify(Context& context, const CLI::App& root, Certified request) {
  const auto tools = toolTable(root, false);
  KERF_TRY(const Tool* tool, judgingTool(tools, request.command));
  KERF_TRY(const Json arguments, toolArguments(*tool, request.command));
  KERF_TRY(const auto answer, callTool(*tool, arguments, context.storePath, usualTime, interruptToken()));
  if (answer.status > 1 || answer.json.is_discarded())
    return fail(ErrorCode::BadInput, "there is no verdict to certify: {}", answer.errors);
  KERF_CHECK(emit(certificateOf(*tool, arguments, answer).dump(2, ' ', true, Json::error_handler_t::replace) + "\n",
                  request.place));
  if (!request.place.empty() && !context.json)
    fmt::print("{}  {}, exit code {}\n", request.place, tool->entry.name(), answer.status);
  return answer.status;
}

Result<int> runRecheck(Context& context, const CLI::App& root, const std::string& place) {
  std::error_code ignored;
  if (std::filesystem::exists(place, ignored) && !std::filesystem::is_regular_file(place, ignored))
    return fail(ErrorCode::BadInput, "{} is no file", place);
  if (std::filesystem::file_size(place, ignored) > mostCertificate && !ignored)
    return fail(ErrorCode::TooLarge, "{} has more than {} MB: it is no certificate", place, mostCertificate >> 20);
  std::ifstream file(place, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return fail(ErrorCode::NotFound, "{} cannot be read", place);
  KERF_TRY(const auto found, recheck(root, readJson<Json>(text.str()), context.storePath, usualTime, interruptToken()));
  if (context.json)
    printJson(jsonOf(found));
  else
    fmt::print("{}: {}\n", found.tool, found.same ? "the same verdict" : "ANOTHER verdict");
  if (!context.json)
    for (const auto& row : found.differences) fmt::print("  {}\n", row);
  return found.same ? 0 : 1;
}

}  // namespace

void addCertify(CommandLine& line) {
  auto& command = line.add("certify", "Judge in a clean process, and write the verdict with all that repeats it",
                           "  kerf certify -o relu.json -- compare repro.py --plant relu=accuracy\n"
                           "  kerf certify -o audit.json -- audit trace.log");
  command.footer(
      command.get_footer() +
      "\n\nThe certificate holds the arguments, SHA-256 sums of the files, the exit code and the answer without times."
      "\nExit code: that of the judging command.");
  auto request = std::make_shared<Certified>();
  command.add_option("COMMAND", request->command, "The judging command and its arguments, after --")->required();
  command.add_option("-o,--output", request->place, "The certificate (default: standard output)")->type_name("FILE");
  line.onRun(command, [&line, request](Context& context) { return runCertify(context, line.root(), *request); });
}

void addRecheck(CommandLine& line) {
  auto& command = line.add("recheck", "Repeat a certified verdict in a clean process",
                           "  kerf recheck relu.json\n  kerf recheck relu.json --json");
  command.footer(
      command.get_footer() +
      "\n\nA certificate can ask for the commands that judge, and for nothing that starts other programs or writes."
      "\nExit code: 0 the same verdict, 1 another one or changed files.");
  auto place = std::make_shared<std::string>();
  command.add_option("FILE", *place, "What `kerf certify`, or a tool of `kerf mcp`, wrote")->required();
  line.onRun(command, [&line, place](Context& context) { return runRecheck(context, line.root(), *place); });
}

}  // namespace kerf::cli
