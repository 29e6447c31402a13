#include "app/cli/command_table.h"

#include <algorithm>
#include <array>

#include <fmt/ranges.h>

namespace kerf::cli {

namespace {

std::vector<std::string> splitAt(std::string_view text, char between) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(between, at), text.size());
    if (end > at) parts.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

/// "TEXT:{auto,cpu}" and "auto|always|never" name all values; "INT:INT in [0 - 256]" does not.
std::vector<std::string> choicesIn(const std::string& type) {
  const std::size_t open = type.find('{'), close = type.rfind('}');
  if (open != std::string::npos && close != std::string::npos && close > open)
    return splitAt(std::string_view(type).substr(open + 1, close - open - 1), ',');
  if (type.contains('|') && !type.contains(' ') && !type.contains(':')) return splitAt(type, '|');
  return {};
}

std::string valueName(const std::string& type) {
  const std::string name = type.substr(0, type.find_first_of(":{|"));
  return name.empty() || type.contains('|') ? "VALUE" : name;
}

OptionEntry entryOf(const CLI::Option& option) {
  OptionEntry entry;
  for (const auto& name : option.get_snames()) entry.flags.push_back("-" + name);
  for (const auto& name : option.get_lnames()) entry.flags.push_back("--" + name);
  const std::string type = option.get_type_name();
  const bool takes = option.get_items_expected_max() > 0;
  if (takes) entry.value = valueName(type), entry.choices = choicesIn(type);
  if (entry.flags.empty()) entry.place = option.get_name(true);
  entry.description = option.get_description();
  entry.usual = option.get_default_str();
  entry.required = option.get_required();
  entry.repeated = option.get_items_expected_max() > 1;
  return entry;
}

void addCommandsOf(const CLI::App& app, std::vector<std::string> words, std::vector<CommandEntry>& table) {
  CommandEntry entry{words, app.get_description(), app.get_footer(), {}, !words.empty() && app.get_group().empty()};
  for (const auto* option : app.get_options())
    if (!option->get_group().empty()) entry.options.push_back(entryOf(*option));
  table.push_back(std::move(entry));
  for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    words.push_back(command->get_name());
    addCommandsOf(*command, words, table);
    words.pop_back();
  }
}

}  // namespace

bool OptionEntry::takesFile() const {
  constexpr std::array files{"PATH", "FILE", "DIR", "EXE", "PATHS"};
  return choices.empty() && std::ranges::find(files, value) != files.end();
}

std::string CommandEntry::name(char between) const {
  return fmt::format("{}", fmt::join(words, std::string(1, between)));
}

std::vector<CommandEntry> commandTable(const CLI::App& root) {
  std::vector<CommandEntry> table;
  addCommandsOf(root, {}, table);
  return table;
}

std::vector<CommandEntry> shownCommands(const CLI::App& root) {
  auto table = commandTable(root);
  std::erase_if(table, [](const CommandEntry& entry) { return entry.hidden; });
  return table;
}

}  // namespace kerf::cli
