// Words of a shell command, as far as they are plain or quoted as a whole.
#include "minifier/oracle/command_files.h"

#include <fstream>
#include <sstream>
#include <utility>

#include "engine/process/program.h"

namespace kerf::inline minifier::inline oracle {

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t mostBytes = 256u << 20;  // of a file that is read; of longer ones the size counts
constexpr std::string_view separators = " \t\n;&|()<>", expanded = "$`*?[]{}~\\\"'=!#";

struct Word {
  std::size_t begin = 0, end = 0;
  std::string text;
  bool startsCommand = false;
  bool isWritten = false;  ///< "log" in `check > log`
};

/// The next word from `at` on; empty where it needs a shell to be read.
Word nextWord(std::string_view command, std::size_t at) {
  Word word{at, at, {}, false};
  const char quote = command[at];
  if (quote == '\'' || quote == '"') {
    const std::size_t close = command.find(quote, at + 1);
    word.end = close == command.npos ? command.size() : close + 1;
    const auto inside = command.substr(at + 1, word.end - at - 1 - (close == command.npos ? 0 : 1));
    if (quote == '\'' || inside.find_first_of("$`\\") == inside.npos) word.text = inside;
    if (word.end < command.size() && separators.find(command[word.end]) == separators.npos) word.text.clear();
  }
  while (word.end < command.size() && separators.find(command[word.end]) == separators.npos) ++word.end;
  if (quote == '\'' || quote == '"') return word;
  const auto plain = command.substr(at, word.end - at);
  if (plain.find_first_of(expanded) == plain.npos) word.text = plain;
  return word;
}

std::vector<Word> wordsOf(std::string_view command) {
  std::vector<Word> words;
  bool startsCommand = true, isWritten = false;
  for (std::size_t at = 0; at < command.size();) {
    if (separators.find(command[at]) != separators.npos) {
      startsCommand = startsCommand || std::string_view(";&|()\n").find(command[at]) != std::string_view::npos;
      isWritten = command[at] == '>' || (isWritten && command[at] == ' ');
      ++at;
      continue;
    }
    words.push_back(nextWord(command, at));
    words.back().startsCommand = startsCommand;
    words.back().isWritten = std::exchange(isWritten, false);
    startsCommand = false;
    at = words.back().end;
  }
  return words;
}

std::string contentOf(const fs::path& path) {
  std::error_code problem;
  const auto size = fs::file_size(path, problem);
  if (problem || size > mostBytes) return problem ? problem.message() : std::to_string(size);
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

/// "relu" in `grep relu` is not meant as a file, even where there is one; nor is the candidate's own repro.py.
bool isMeantFromHere(const fs::path& name) {
  if (name.is_absolute() || name.lexically_normal() == "repro.py") return false;
  return name.has_parent_path() || name.extension() == ".py" || name.extension() == ".sh";
}

}  // namespace

std::string shellQuoted(const std::string& text) {
  std::string quoted = "'";
  for (char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::vector<CommandFile> filesOfCommand(std::string_view command, const fs::path& folder) {
  std::vector<CommandFile> files;
  for (const Word& word : wordsOf(command)) {
    if (word.text.empty() || word.isWritten) continue;
    const bool onPath = word.startsCommand && word.text.find('/') == std::string::npos;
    const fs::path path = onPath ? findProgram(word.text) : folder / word.text;
    std::error_code ignored;
    if (!path.empty() && fs::is_regular_file(path, ignored))
      files.push_back({word.begin, word.end, path, !onPath && isMeantFromHere(word.text)});
  }
  return files;
}

std::string commandFromAnywhere(const std::string& command, const fs::path& folder) {
  std::string changed = command;
  const auto files = filesOfCommand(command, folder);
  for (auto file = files.rbegin(); file != files.rend(); ++file) {
    if (!file->isRelative) continue;
    changed.replace(file->begin, file->end - file->begin, shellQuoted(file->path.lexically_normal().string()));
  }
  return changed;
}

Hash128 hashOfCommandFiles(std::string_view command, const fs::path& folder) {
  std::string all;
  for (const CommandFile& file : filesOfCommand(command, folder))
    all += file.path.lexically_normal().string() + '\n' + hashText(contentOf(file.path)).hex() + '\n';
  return hashText(all);
}

}  // namespace kerf::inline minifier::inline oracle
