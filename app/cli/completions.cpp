// kerf completions SHELL: what a shell needs to complete commands, options and their values.
#include "app/cli/command_table.h"
#include "app/cli/commands.h"
#include "app/cli/output_file.h"

#include <fmt/ranges.h>

namespace kerf::cli {

namespace {

using Table = std::vector<CommandEntry>;

std::vector<std::string> flagsOf(const CommandEntry& entry) {
  std::vector<std::string> flags;
  for (const auto& option : entry.options) flags.insert(flags.end(), option.flags.begin(), option.flags.end());
  return flags;
}

/// The words that may follow those of a command: commands of its own.
std::vector<const CommandEntry*> childrenOf(const Table& table, const CommandEntry& parent) {
  std::vector<const CommandEntry*> children;
  for (const auto& entry : table)
    if (entry.words.size() == parent.words.size() + 1 &&
        std::equal(parent.words.begin(), parent.words.end(), entry.words.begin()))
      children.push_back(&entry);
  return children;
}

std::vector<std::string> lastWords(const std::vector<const CommandEntry*>& entries) {
  std::vector<std::string> words;
  for (const auto* entry : entries) words.push_back(entry->words.back());
  return words;
}

/// In single quotes, as all three shells read it ('\'' ends them, adds one, and begins again).
std::string shellWord(std::string_view text) {
  std::string out = "'";
  for (const char letter : text) {
    if (letter == '\'')
      out += "'\\''";
    else
      out += letter == '\n' ? ' ' : letter;
  }
  return out + "'";
}

// bash

std::string bashValues(const CommandEntry& entry) {
  std::string text;
  for (const auto& option : entry.options) {
    if (option.flags.empty() || option.value.empty()) continue;
    std::vector<std::string> patterns;
    for (const auto& flag : option.flags) patterns.push_back(fmt::format("'{} {}'", entry.name(), flag));
    const std::string reply =
        option.choices.empty()
            ? std::string("compopt -o default")
            : fmt::format("_kerf_words {}", shellWord(fmt::format("{}", fmt::join(option.choices, " "))));
    text += fmt::format("    {}) {}; return ;;\n", fmt::join(patterns, "|"), reply);
  }
  return text;
}

std::string bashText(const Table& table) {
  std::string words, values, flags, children;
  for (const auto& entry : table) {
    const std::string name = entry.name();
    for (const auto* child : childrenOf(table, entry))
      words += fmt::format("      '{} {}') command='{}' ;;\n", name, child->words.back(), child->name());
    values += bashValues(entry);
    flags += fmt::format("      '{}') _kerf_words '{}' ;;\n", name, fmt::join(flagsOf(entry), " "));
    if (const auto own = childrenOf(table, entry); !own.empty())
      children += fmt::format("    '{}') _kerf_words '{}' ;;\n", name, fmt::join(lastWords(own), " "));
  }
  return fmt::format(R"(# Completion of kerf for bash: source it, or put it into /usr/share/bash-completion/completions.
_kerf_words() {{
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current")
}}
_kerf() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} command= i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$command ${{COMP_WORDS[i]}}" in
{}    esac
  done
  case "$command $previous" in
{}  esac
  if [[ $current == -* ]]; then
    case $command in
{}    esac
    return
  fi
  compopt -o default
  case $command in
{}  esac
}}
complete -F _kerf kerf
)",
                     words, values, flags, children);
}

// zsh

/// What stands in [] of an _arguments row.
std::string zshDescription(const std::string& text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '[' || letter == ']' || letter == ':' || letter == '\\') out += '\\';
    out += letter;
  }
  return out;
}

std::string zshAction(const OptionEntry& option) {
  if (!option.choices.empty()) return fmt::format("({})", fmt::join(option.choices, " "));
  return option.takesFile() || option.flags.empty() ? "_files" : " ";
}

std::string zshOption(const OptionEntry& option) {
  if (option.flags.empty())
    return fmt::format("    {} \\\n", shellWord(fmt::format("{}:{}:{}",
                                                            option.repeated   ? "*"
                                                            : option.required ? ""
                                                                              : ":",
                                                            zshDescription(option.place), zshAction(option))));
  std::string rows;
  for (const auto& flag : option.flags) {
    std::string row = (option.repeated ? "*" : "") + flag + fmt::format("[{}]", zshDescription(option.description));
    if (!option.value.empty()) row += fmt::format(":{}:{}", zshDescription(option.value), zshAction(option));
    rows += fmt::format("    {} \\\n", shellWord(row));
  }
  return rows;
}

std::string zshFunction(const Table& table, const CommandEntry& entry) {
  const auto children = childrenOf(table, entry);
  std::string text = fmt::format("_kerf{}{}() {{\n", entry.words.empty() ? "" : "_", entry.name('_'));
  if (!children.empty()) text += "  local context state line\n";
  text += "  _arguments -s" + std::string(children.empty() ? "" : " -C") + " \\\n";
  for (const auto& option : entry.options)
    if (children.empty() || !option.flags.empty()) text += zshOption(option);
  if (children.empty()) return text + "    && return\n}\n";
  text += "    '1: :->command' '*:: :->rest' && return\n  case $state in\n    command)\n      local -a commands=(\n";
  for (const auto* child : children)
    text += fmt::format("        {}\n", shellWord(child->words.back() + ":" + child->description));
  text += "      )\n      _describe command commands ;;\n    rest)\n      case $line[1] in\n";
  for (const auto* child : children)
    text += fmt::format("        {}) _kerf_{} ;;\n", child->words.back(), child->name('_'));
  return text + "      esac ;;\n  esac\n}\n";
}

std::string zshText(const Table& table) {
  std::string text = "#compdef kerf\n# Completion of kerf for zsh: put it as _kerf into a folder of $fpath.\n";
  for (const auto& entry : table) text += zshFunction(table, entry);
  return text + "if [[ $funcstack[1] == _kerf ]]; then _kerf \"$@\"; else compdef _kerf kerf; fi\n";
}

// fish

/// When all words of the command, and none of its own commands, were given.
std::string fishCondition(const Table& table, const CommandEntry& entry) {
  std::string condition;
  for (const auto& word : entry.words)
    condition += fmt::format("{}__fish_seen_subcommand_from {}", condition.empty() ? "" : "; and ", word);
  const auto children = lastWords(childrenOf(table, entry));
  if (children.empty()) return condition;
  return condition + fmt::format("{}not __fish_seen_subcommand_from {}", condition.empty() ? "" : "; and ",
                                 fmt::join(children, " "));
}

std::string fishOption(const OptionEntry& option, const std::string& condition) {
  std::string row = fmt::format("complete -c kerf -n {}", shellWord(condition));
  for (const auto& flag : option.flags)
    row += flag.starts_with("--") ? " -l " + flag.substr(2) : " -s " + flag.substr(1);
  if (!option.value.empty()) row += option.takesFile() ? " -r -F" : " -x";
  if (!option.choices.empty())
    row += fmt::format(" -a {}", shellWord(fmt::format("{}", fmt::join(option.choices, " "))));
  return row + fmt::format(" -d {}\n", shellWord(option.description));
}

std::string fishText(const Table& table) {
  std::string text = "# Completion of kerf for fish: put it into ~/.config/fish/completions/kerf.fish.\n";
  for (const auto& entry : table) {
    const std::string condition = fishCondition(table, entry);
    for (const auto* child : childrenOf(table, entry))
      text += fmt::format("complete -c kerf -f -n {} -a {} -d {}\n", shellWord(condition), child->words.back(),
                          shellWord(child->description));
    for (const auto& option : entry.options)
      if (!option.flags.empty()) text += fishOption(option, condition);
  }
  return text;
}

struct Shell {
  std::string_view name;
  std::string (*text)(const Table&);
};
constexpr Shell shells[] = {{"bash", bashText}, {"zsh", zshText}, {"fish", fishText}};

Result<int> runCompletions(const CLI::App& root, const std::string& name) {
  const auto* shell = std::ranges::find(shells, name, &Shell::name);
  KERF_CHECK(emit(shell->text(shownCommands(root)), {}));
  return 0;
}

}  // namespace

void addCompletions(CommandLine& line) {
  auto& command = line.add("completions", "Print what a shell needs to complete kerf's commands and options",
                           "  kerf completions zsh > ~/.zfunc/_kerf\n"
                           "  kerf completions fish > ~/.config/fish/completions/kerf.fish\n"
                           "  source <(kerf completions bash)");
  auto shell = std::make_shared<std::string>();
  command.add_option("SHELL", *shell, "Which shell")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  line.onRun(command, [&line, shell](Context&) { return runCompletions(line.root(), *shell); });
}

}  // namespace kerf::cli
