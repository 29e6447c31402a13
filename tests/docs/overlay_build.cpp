#include "tests/docs/overlay_build.h"

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <sys/wait.h>

#ifndef KERF_MOC  // a build without the window
#define KERF_MOC "moc"
#endif

namespace kerf::docs {
namespace {

namespace fs = std::filesystem;

/// The sources of a unity file, or the source itself.
std::vector<std::string> sourcesOf(const std::string& file) {
  if (file.find("/Unity/") == std::string::npos) return {file};
  static const std::regex include(R"re(#include "([^"]+)")re");
  const std::string text = readText(file);
  std::vector<std::string> sources;
  for (std::sregex_iterator at(text.begin(), text.end(), include), end; at != end; ++at) sources.push_back((*at)[1]);
  return sources;
}

std::size_t sharedPrefix(const std::string& a, const std::string& b) {
  return std::size_t(std::ranges::mismatch(a, b).in1 - a.begin());
}

/// A compile command for another file: overlay first among the include folders, other input and output.
std::string redirected(const std::string& command, const fs::path& overlay, const fs::path& input,
                       const fs::path& object) {
  const std::string bare = std::regex_replace(command, std::regex(R"( -o \S+ -c \S+)"), "");
  const std::size_t compiler = bare.find(' ');
  return fmt::format("{} -I{}{} -o {} -c {}", bare.substr(0, compiler), overlay.string(), bare.substr(compiler),
                     object.string(), input.string());
}

}  // namespace

OverlayBuild::OverlayBuild(fs::path source, fs::path build, fs::path folder)
    : m_source(std::move(source)),
      m_build(std::move(build)),
      m_folder(std::move(folder)),
      m_commands(nlohmann::json::parse(readText(m_build / "compile_commands.json"))) {
  fs::remove_all(m_folder);
  fs::create_directories(m_folder / "build" / "bin");
}

std::string OverlayBuild::apply(const Step& step) {
  const fs::path into = m_folder / step.file;
  if (step.after.empty() && fs::exists(m_source / step.file)) return step.file + " exists already";
  if (!step.after.empty() && !fs::exists(m_source / step.file)) return step.file + " does not exist";
  std::string text = step.text;
  if (!step.after.empty()) {
    text = readText(fs::exists(into) ? into : m_source / step.file);
    const std::size_t found = text.find(step.after);
    if (found == std::string::npos) return fmt::format("{} has no line with '{}'", step.file, step.after);
    text.insert(text.find('\n', found) + 1, step.text);
  }
  writeText(into, text);
  if (std::ranges::find(m_files, step.file) == m_files.end()) m_files.push_back(step.file);
  return {};
}

std::string OverlayBuild::commandFor(const std::string& file) const {
  const std::string wanted = (m_source / file).string();
  std::size_t best = 0;
  std::string command;
  for (const auto& entry : m_commands) {
    for (const std::string& source : sourcesOf(entry["file"])) {
      const std::size_t shared = sharedPrefix(source, wanted);
      if (shared <= best) continue;
      best = shared;
      command = entry["command"];
    }
  }
  return command;
}

std::string OverlayBuild::compile(const std::string& file, const fs::path& source) {
  if (m_objects.contains(file)) return {};
  const fs::path object = m_folder / "objects" / (file + ".o");
  fs::create_directories(object.parent_path());
  m_objects[file] = object.string();
  return shell(redirected(commandFor(file), m_folder, source, object));
}

/// The unity file that the build compiles the source in, or "".
std::string OverlayBuild::groupOf(const std::string& file) const {
  const std::string wanted = (m_source / file).string();
  for (const auto& entry : m_commands) {
    const std::string unit = entry["file"];
    const std::vector<std::string> sources = sourcesOf(unit);
    if (unit.find("/Unity/") != std::string::npos && std::ranges::find(sources, wanted) != sources.end()) return unit;
  }
  return {};
}

/// A source with those that it is compiled together with: they may have its functions inline.
std::string OverlayBuild::compileInGroup(const std::string& file) {
  const std::string group = groupOf(file);
  if (group.empty()) return compile(file, fs::exists(m_folder / file) ? m_folder / file : m_source / file);
  const std::vector<std::string> sources = sourcesOf(group);
  std::string text;
  for (const std::string& source : sources) {
    const fs::path own = fs::relative(source, m_source);
    text += fmt::format("#include \"{}\"\n", fs::exists(m_folder / own) ? (m_folder / own).string() : source);
  }
  const fs::path source = m_folder / "groups" / fs::path(group).filename();
  writeText(source, text);
  return compile(fs::relative(sources.front(), m_source).string(), source);
}

std::string OverlayBuild::compileMoc(const std::string& header) {
  const std::string source = header + ".moc.cpp";
  const std::string problem = shell(fmt::format("{} -p {} {} -o {}", KERF_MOC, fs::path(header).parent_path().string(),
                                                (m_folder / header).string(), (m_folder / source).string()));
  return problem.empty() ? compile(source, m_folder / source) : problem;
}

/// Sources of the linked libraries whose objects depend on the table.
std::string OverlayBuild::compileUsers(const std::string& table, const std::string& linkCommand) {
  if (const auto problem = shell("ninja -t deps"); !problem.empty()) return problem;
  std::istringstream lines(readText(m_folder / "log"));
  std::set<std::string> users;
  std::string object;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(' ')) object = line.substr(0, line.find(".o:"));
    if (!line.ends_with(table) || !object.starts_with("CMakeFiles/")) continue;
    const std::size_t name = object.find('/') + 1, end = object.find(".dir/");
    if (linkCommand.find(fmt::format("lib{}.a", object.substr(name, end - name))) == std::string::npos) continue;
    const bool isGroup = object.find("/Unity/") != std::string::npos;
    const fs::path source = isGroup ? m_build / object : m_source / object.substr(end + 5);
    users.insert(fs::relative(sourcesOf(source.string()).front(), m_source).string());
  }
  for (const std::string& file : users)
    if (const auto problem = compileInGroup(file); !problem.empty()) return problem;
  return {};
}

std::string OverlayBuild::compileStep(const std::string& file, const std::string& linkCommand) {
  if (file.ends_with(".cpp")) return compileInGroup(file);
  if (file.ends_with(".def")) return compileUsers(file, linkCommand);
  const bool needsMoc = file.ends_with(".h") && readText(m_folder / file).find("Q_OBJECT") != std::string::npos;
  return needsMoc ? compileMoc(file) : "";
}

std::string OverlayBuild::link(const std::string& target) {
  const std::string before = fmt::format(" -o bin/{} ", target);
  const std::string command = linkCommand(target);
  for (const std::string& file : m_files)
    if (const auto problem = compileStep(file, command); !problem.empty()) return problem;
  const std::size_t compiler = command.find(' '), output = command.find(before);
  if (output == std::string::npos) return "no link command for " + target;
  std::string objects;
  for (const auto& [file, object] : m_objects) objects += " " + object;
  // What was changed comes first and wins over the object that was built from the unchanged file.
  return shell(fmt::format("{}{}{} -Wl,--allow-multiple-definition -o {}/build/bin/{} {}", command.substr(0, compiler),
                           objects, command.substr(compiler, output - compiler), m_folder.string(), target,
                           command.substr(output + before.size())));
}

/// The last command that makes a program is ": && compiler … -o bin/program … && what follows the linking".
std::string OverlayBuild::linkCommand(const std::string& target) const {
  if (!shell("ninja -t commands bin/" + target).empty()) return {};
  std::string all = readText(m_folder / "log");
  all = all.substr(all.rfind("\n: && ") + 6);
  return all.substr(0, all.find(" && "));
}

std::string OverlayBuild::shell(const std::string& command) const {
  const fs::path log = m_folder / "log";
  const int status = std::system(fmt::format("cd {} && {} >{} 2>&1", m_build.string(), command, log.string()).c_str());
  return status == 0 ? "" : command + "\n" + readText(log);
}

int OverlayBuild::run(const std::string& lines, std::string& output) const {
  writeText(m_folder / "run.sh", lines);
  const fs::path log = m_folder / "log";
  const int status =
      std::system(fmt::format("cd {} && sh -e run.sh >{} 2>&1", m_folder.string(), log.string()).c_str());
  output = readText(log);
  return WEXITSTATUS(status);
}

}  // namespace kerf::docs
