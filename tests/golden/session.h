// A golden file: commands and what they printed, as a terminal would show it. The first line may name masks (masks.h):
//
//     # masks: numbers columns
//     >>> kerf compare mlp8/minifier_launcher.py --plant relu=accuracy
//     what it printed
//     ! what it printed on standard error
//     [exit 1]
//
// Commands are lines for /bin/sh. Those of one file run one after another, in one folder and with one store.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/support/result.h"

namespace kerf::golden {

struct Session {
  std::vector<std::string> masks;
  std::vector<std::string> commands;
};

/// BadInput where there is no command or a mask has no such name.
Result<Session> parseSession(const std::string& golden);

/// Runs the commands in `folder`, which is made anew: it gets `mlp8` (the bundled sample), `traces` (recorded
/// compilations) and `symbolic` (graphs with dynamic shapes). Returns the text that the golden file should have.
Result<std::string> runSession(const Session& session, const std::filesystem::path& folder);

}  // namespace kerf::golden
