// kerf manual DIR: manual pages for packages. Not for people, who have `kerf COMMAND --help` and `man kerf`.
#include <fmt/ranges.h>

#include "app/cli/command_table.h"
#include "app/cli/commands.h"
#include "app/cli/version.h"
#include "engine/support/atomic_file.h"

namespace kerf::cli {

namespace {

/// Text as roff takes it: no line is a request, and hyphens stay hyphens.
std::string roff(std::string_view text) {
  std::string out;
  bool fresh = true;
  for (const char letter : text) {
    if (fresh && (letter == '.' || letter == '\'')) out += "\\&";
    if (letter == '\\')
      out += "\\e";
    else if (letter == '-')
      out += "\\-";
    else
      out += letter;
    fresh = letter == '\n';
  }
  return out;
}

std::string headOf(const OptionEntry& option) {
  std::vector<std::string> names;
  for (const auto& flag : option.flags) names.push_back("\\fB" + roff(flag) + "\\fR");
  std::string head =
      option.flags.empty() ? "\\fI" + roff(option.place) + "\\fR" : fmt::format("{}", fmt::join(names, ", "));
  if (!option.flags.empty() && !option.value.empty()) head += " \\fI" + roff(option.value) + "\\fR";
  return head;
}

std::string pageOption(const OptionEntry& option) {
  std::string text = fmt::format(".TP\n{}\n{}", headOf(option), roff(option.description));
  if (!option.choices.empty())
    text += fmt::format("; one of {}", roff(fmt::format("{}", fmt::join(option.choices, ", "))));
  if (!option.usual.empty() && option.usual != "\"\"") text += fmt::format(" (default: {})", roff(option.usual));
  return text + "\n";
}

std::string synopsis(const CommandEntry& entry) {
  std::string text = ".B kerf";
  if (!entry.words.empty()) text += " " + roff(entry.name());
  text += "\n[OPTION...]";
  if (entry.words.empty()) text += " \\fICOMMAND\\fR";
  for (const auto& option : entry.options)
    if (option.flags.empty())
      text += fmt::format(" {}{}{}{}", option.required ? "" : "[", roff(option.place), option.repeated ? "..." : "",
                          option.required ? "" : "]");
  return text + "\n";
}

std::string pageOf(const CommandEntry& entry, const std::vector<CommandEntry>& table) {
  const std::string dashed = entry.words.empty() ? "kerf" : "kerf-" + entry.name('-');
  const std::string_view about = entry.words.empty() ? "graph debugger and minifier for PyTorch compiler graphs"
                                                     : std::string_view(entry.description);
  std::string text = fmt::format(".TH \"{}\" 1 \"\" \"kerf {}\" \"Kerf\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n{}",
                                 dashed, versionNumber(), roff(dashed), roff(about), synopsis(entry));
  text += fmt::format(".SH DESCRIPTION\n{}\n", roff(entry.description));
  if (!entry.options.empty()) text += ".SH OPTIONS\n";
  for (const auto& option : entry.options) text += pageOption(option);
  std::string commands;
  for (const auto& other : table)
    if (other.words.size() > entry.words.size() &&
        std::equal(entry.words.begin(), entry.words.end(), other.words.begin()))
      commands += fmt::format(".TP\n\\fBkerf\\-{}\\fR(1)\n{}\n", roff(other.name('-')), roff(other.description));
  if (!commands.empty()) text += ".SH COMMANDS\n" + commands;
  text += fmt::format(".SH MORE\n.nf\n{}\n.fi\n", roff(entry.footer));
  return text + ".SH SEE ALSO\n.BR kerf (1)\n";
}

Result<int> runManual(const CLI::App& root, const std::string& folder) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);  // writing says what is wrong
  const auto table = shownCommands(root);
  for (const auto& entry : table) {
    const std::string name = entry.words.empty() ? "kerf.1" : fmt::format("kerf-{}.1", entry.name('-'));
    KERF_CHECK(writeTextFile(pageOf(entry, table), std::filesystem::path(folder) / name));
  }
  fmt::print("{} pages\n", table.size());
  return 0;
}

}  // namespace

void addManual(CommandLine& line) {
  auto& command = line.add("manual", "Write manual pages (used by packages)", "  kerf manual man1");
  command.group("");
  auto folder = std::make_shared<std::string>();
  command.add_option("DIR", *folder, "Folder to write to")->required();
  line.onRun(command, [&line, folder](Context&) { return runManual(line.root(), *folder); });
}

}  // namespace kerf::cli
