#include "tests/golden/session.h"

#include <fstream>
#include <sstream>

#include <fmt/ranges.h>

#include "engine/process/program.h"
#include "tests/golden/masks.h"
#include "tests/support/patience.h"

namespace kerf::golden {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view prompt = ">>> ", masksLine = "# masks: ";

std::vector<std::string> linesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string replaced(std::string text, const std::string& what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

Result<void> makeFolder(const fs::path& folder) {
  std::error_code error;
  fs::remove_all(folder, error);
  fs::create_directories(folder, error);
  const fs::path source = KERF_SOURCE_DIR, build = KERF_BINARY_DIR;
  const std::pair<const char*, fs::path> links[] = {{"mlp8", source / "resources/samples/mlp8"},
                                                    {"traces", build / "corpus/variety"},
                                                    {"symbolic", source / "tests/data/symbolic"}};
  for (const auto& [name, target] : links)
    if (!error) fs::create_directory_symlink(target, folder / name, error);
  if (error) return fail(ErrorCode::Environment, "cannot set up {}: {}", folder.string(), error.message());
  return {};
}

/// The same environment for every user: no store, log, recordings, colours or language of their own.
std::vector<std::string> shellCommand(const std::string& command, const fs::path& folder) {
  const std::string script = fmt::format(
      "cd '{0}' && unset KERF_LOG KERF_CORPUS KERF_CUDA_ARCH KERF_SAMPLES DISPLAY WAYLAND_DISPLAY\n"
      "export PATH='{1}/bin':\"$PATH\" KERF_STORE='{0}/kerf.db' TMPDIR='{0}' NO_COLOR=1 LC_ALL=C.UTF-8 "
      "QT_QPA_PLATFORM=offscreen\n{2}\n",
      folder.string(), KERF_BINARY_DIR, command);
  return {"/bin/sh", "-c", script};
}

Result<std::string> transcriptOf(const std::string& command, const fs::path& folder) {
  KERF_TRY(const ProgramResult result, runProgram(shellCommand(command, folder), {}, test::patience));
  std::string text = std::string(prompt) + command + "\n" + result.output;
  if (!text.ends_with('\n')) text += '\n';
  for (const std::string& line : linesOf(result.errors)) text += "! " + line + "\n";
  if (result.status != 0) text += fmt::format("[exit {}]\n", result.status);
  return text;
}

}  // namespace

Result<Session> parseSession(const std::string& golden) {
  Session session;
  for (const std::string& line : linesOf(golden)) {
    if (line.starts_with(prompt)) session.commands.push_back(line.substr(prompt.size()));
    if (!line.starts_with(masksLine) || !session.commands.empty()) continue;
    std::istringstream names(line.substr(masksLine.size()));
    for (std::string name; names >> name;) session.masks.push_back(name);
  }
  if (session.commands.empty()) return fail(ErrorCode::BadInput, "no line begins with '{}'", prompt);
  for (const std::string& name : session.masks)
    if (!isMask(name)) return fail(ErrorCode::BadInput, "there is no mask '{}'", name);
  return session;
}

Result<std::string> runSession(const Session& session, const fs::path& folder) {
  KERF_CHECK(makeFolder(folder));
  std::string text;
  if (!session.masks.empty()) text = fmt::format("{}{}\n", masksLine, fmt::join(session.masks, " "));
  for (const std::string& command : session.commands) {
    KERF_TRY(const std::string part, transcriptOf(command, folder));
    text += part;
  }
  text = replaced(text, folder.string(), "FOLDER");
  text = replaced(text, KERF_BINARY_DIR, "BUILD");
  return masked(replaced(text, KERF_SOURCE_DIR, "SOURCE"), session.masks);
}

}  // namespace kerf::golden
