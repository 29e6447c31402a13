// CommandLine: how a subcommand registers itself. Each file of this folder that is a command offers one
// `void addX(CommandLine&)`, listed in commands.cpp.
#pragma once

#include <functional>
#include <span>
#include <string>

#include <CLI/CLI.hpp>

#include "app/cli/context.h"

namespace kerf::cli {

/// What a chosen command does. Returns the exit code: 0 good, 1 a difference or failure was found.
using CommandBody = std::function<Result<int>(Context&)>;

class CommandLine {
 public:
  CommandLine(CLI::App& root, Context& context) : m_root(root), m_context(context) {}

  /// Adds a subcommand with --json, --store and -v. `examples` are shown below its options, one a line.
  CLI::App& add(const std::string& name, const std::string& description, const std::string& examples);
  /// Sets what `command` does once the line is parsed.
  void onRun(CLI::App& command, CommandBody body);
  const CommandBody& chosen() const { return m_chosen; }
  const CLI::App& root() const { return m_root; }
  void addCommonOptions(CLI::App& command);

 private:
  CLI::App& m_root;
  Context& m_context;
  CommandBody m_chosen;
};

/// Parses and runs; returns the process exit code. `arguments` holds argv[0] too.
int runCli(std::span<const char* const> arguments);

}  // namespace kerf::cli
