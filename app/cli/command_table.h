// CommandTable: what `kerf --help` knows, as rows: for completions, manual pages and whoever else describes the program.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace kerf::cli {

struct OptionEntry {
  std::vector<std::string> flags;    ///< "--json", "-o"; empty: an argument by its place
  std::string value;                 ///< "DIR", "INT"; empty: the option takes none
  std::vector<std::string> choices;  ///< all values that it takes; empty: any
  std::string description;
  std::string place;  ///< name of an argument by its place
  std::string usual;  ///< value without the option, as text
  bool required = false, repeated = false;

  bool takesFile() const;
};

struct CommandEntry {
  std::vector<std::string> words;  ///< "store", "verify"; empty: the program itself
  std::string description, footer;
  std::vector<OptionEntry> options;
  bool hidden = false;

  /// "store verify"
  std::string name(char between = ' ') const;
};

/// The program and all of its commands, those of commands behind them, in the order of `kerf --help`.
std::vector<CommandEntry> commandTable(const CLI::App& root);
/// Those that people call.
std::vector<CommandEntry> shownCommands(const CLI::App& root);

}  // namespace kerf::cli
