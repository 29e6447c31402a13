#include "app/workbench/share/redact.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "engine/support/digest.h"
#include "engine/support/utf8.h"

namespace kerf::workbench {

namespace {

constexpr std::array<std::string_view, 3> homes{"/home/", "/Users/", "\\Users\\"};
constexpr std::array<std::string_view, 4> keptFrom{"/site-packages/", "/dist-packages/", "/torchinductor_",
                                                   "/lib/python3"};

/// What only generated Python has: graphs, repros, output code.
constexpr std::array<std::string_view, 4> signsOfGenerated{"class Repro(torch.nn.Module)",
                                                           "class GraphModule(torch.nn.Module)", "load_args(reader)",
                                                           "async_compile = AsyncCompile()"};

bool isNameLetter(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
         (letter != 0 && std::string_view("_-.+@~").contains(letter)) || static_cast<unsigned char>(letter) >= 0x80;
}

/// Where an absolute path that begins at `at` ends; `at` where none does. Two parts at least: "/" alone divides.
std::size_t endOfPath(std::string_view text, std::size_t at) {
  std::size_t parts = 0, end = at;
  while (end < text.size() && text[end] == '/') {
    std::size_t next = end + 1;
    while (next < text.size() && isNameLetter(text[next])) ++next;
    if (next == end + 1) break;
    end = next, ++parts;
  }
  return parts >= 2 ? end : at;
}

/// A drive and folders, with backslashes single or, inside of JSON and Python, doubled.
std::size_t endOfWindowsPath(std::string_view text, std::size_t at) {
  if (at + 3 >= text.size() || std::isalpha(static_cast<unsigned char>(text[at])) == 0 || text[at + 1] != ':' ||
      text[at + 2] != '\\')
    return at;
  std::size_t end = at + 2;
  while (end < text.size() && (text[end] == '\\' || isNameLetter(text[end]))) ++end;
  return end;
}

/// A path in quotes goes on to the quote, if a blank is all that ends it before: "/home/a/My Project/b.py".
std::size_t withBlanks(std::string_view text, std::size_t at, std::size_t end) {
  const char quote = at == 0 ? '\0' : text[at - 1];
  if (end == at || end >= text.size() || text[end] != ' ' || (quote != '"' && quote != '\'')) return end;
  std::size_t next = end;
  while (next < text.size() && (isNameLetter(text[next]) || text[next] == ' ' || text[next] == '/')) ++next;
  return next < text.size() && text[next] == quote ? next : end;
}

/// What is left of a path: its file, or what a package holds.
std::string shortPath(std::string_view path) {
  for (const auto from : keptFrom)
    if (const std::size_t at = path.rfind(from); at != std::string_view::npos && from != "/torchinductor_")
      return fmt::format("~{}", path.substr(at));
  return fmt::format("~/{}", path.substr(path.find_last_of("/\\") + 1));
}

bool beginsWord(std::string_view text, std::size_t at) { return at == 0 || !isNameLetter(text[at - 1]); }

/// What may stand right before a path: no name, the letter of an escape ("\n"), a flag ("-I"), the sign of a changed line.
bool mayPrecedePath(std::string_view text, std::size_t at) {
  if (beginsWord(text, at)) return true;
  const char before = text[at - 1], second = at > 1 ? text[at - 2] : ' ';
  const bool isFirst = at < 3 || !isNameLetter(text[at - 3]);
  if (second == '\\') return std::string_view("nrt").contains(before);
  if (second == '-' && isFirst) return std::isalpha(static_cast<unsigned char>(before)) != 0;
  return (before == '+' || before == '-') && !isNameLetter(second);
}

template <class Edit>
std::string byLine(std::string_view text, Edit edit) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1);
    out += edit(text.substr(at, end - at + 1));
    at = end + 1;
  }
  return out;
}

/// A line of JSON, or of a log with JSON in it: texts in it end at quotes, and their lines at escaped newlines.
bool isJson(std::string_view line) {
  const std::size_t start = line.find_first_not_of(" \t");
  return line.contains("] {\"") || (start != std::string_view::npos && std::string_view("{[\"").contains(line[start]));
}

/// The quote that ends the text that begins at `at`.
std::size_t endOfText(std::string_view line, std::size_t at) {
  while (at < line.size() && line[at] != '"') at += line[at] == '\\' ? 2 : 1;
  return std::min(at, line.size());
}

}  // namespace

void Redactor::learn(std::string_view text) {
  for (const auto home : homes)
    for (std::size_t at = text.find(home); at != std::string_view::npos; at = text.find(home, at + 1)) {
      std::size_t end = at + home.size();
      while (end < text.size() && isNameLetter(text[end])) ++end;
      const auto name = text.substr(at + home.size(), end - at - home.size());
      if (name.size() >= 3 && name != "user") m_users.emplace(name);
    }
}

std::string Redactor::withoutPaths(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    if (text[at] == '/' && mayPrecedePath(text, at)) {
      end = withBlanks(text, at, endOfPath(text, at));
    } else if (beginsWord(text, at)) {
      end = endOfWindowsPath(text, at);
      const auto user = end > at ? m_users.end() : std::ranges::find_if(m_users, [&](const auto& name) {
        const std::size_t after = at + name.size();
        return text.substr(at).starts_with(name) &&
               (after >= text.size() || !isNameLetter(text[after]) || text[after] == '.');
      });
      if (user != m_users.end()) {
        out += "user", at += user->size(), ++m_removed["name of a user"];
        continue;
      }
    }
    if (end > at)
      out += withoutUsers(shortPath(text.substr(at, end - at))), at = end, ++m_removed["path"];
    else
      out += text[at++];
  }
  return out;
}

/// What is left of a path may still hold a name: "~/alice", "~/torchinductor_alice".
std::string Redactor::withoutUsers(std::string kept) {
  for (const auto& name : m_users)
    for (std::size_t at = kept.find(name); at != std::string::npos; at = kept.find(name, at + 1)) {
      const std::size_t after = at + name.size();
      const auto isLetter = [&](std::size_t i) { return std::isalnum(static_cast<unsigned char>(kept[i])) != 0; };
      if ((at > 0 && isLetter(at - 1)) || (after < kept.size() && isLetter(after))) continue;
      kept.replace(at, name.size(), "user");
      ++m_removed["name of a user"];
    }
  return kept;
}

std::string Redactor::withoutStorages(std::string_view text) {
  constexpr std::string_view call = "reader.storage(";
  std::string out;
  std::size_t last = 0;
  for (std::size_t at = text.find(call); at != std::string_view::npos; at = text.find(call, at + 1)) {
    const std::size_t name = at + call.size();
    if (name >= text.size() || (text[name] != '\'' && text[name] != '"')) continue;
    const std::size_t end = text.find(text[name], name + 1);
    if (end == std::string_view::npos) continue;
    out += text.substr(last, name - last);
    out += "None", last = end + 1, ++m_removed["stored tensor"];
  }
  return out += text.substr(last);
}

/// One line of a text: what a graph's comment says behind "code:", a guard's comment before its place, and the line below
/// 'File "model.py", line 3, in forward'.
std::string Redactor::lineWithoutCode(std::string_view line) {
  constexpr std::string_view code = ", code: ", comment = "  # ";
  const std::string_view bare = line.substr(line.starts_with('\t') ? 1 : 0);
  const std::string end = line.ends_with('\n') ? "\n" : "";
  auto& removed = m_removed["line of source"];
  const bool isFile = bare.contains("File ") && bare.contains(", line ");
  const bool isBelowFile = m_isBelowFile && !isFile && bare.starts_with("    ");  // a statement may take several lines
  m_isBelowFile = isFile || isBelowFile;
  if (isBelowFile) {
    ++removed;
    return std::string(line.substr(0, line.size() - bare.size())) + "    " + end;
  }
  if (const std::size_t at = line.find(code); at != std::string_view::npos) {
    ++removed;
    return std::string(line.substr(0, at)) + end;
  }
  const std::size_t first = line.find(comment), last = line.rfind(comment);
  if (first == last || !line.substr(last).contains(" in ")) return std::string(line);
  ++removed;
  return std::string(line.substr(0, first)).append(line.substr(last));
}

/// The same for a text inside of JSON; `key` names it.
std::string Redactor::textWithoutCode(std::string_view key, std::string_view text) {
  const bool isOfReport = m_isReport && (key == "source" || key == "script");
  if ((key == "loc" || isOfReport) && !text.empty()) {
    ++m_removed["line of source"];
    return {};
  }
  m_isBelowFile = false;
  std::string out;
  for (std::size_t at = 0; at <= text.size();) {
    std::size_t end = at;
    while (end < text.size() && text.substr(end, 2) != "\\n") end += text[end] == '\\' ? 2 : 1;
    end = std::min(end, text.size());
    out += lineWithoutCode(text.substr(at, end - at));
    if (end < text.size()) out += "\\n";
    at = end + 2;
  }
  m_isBelowFile = false;
  return out;
}

/// Of a page in Markdown, what stands between fences goes as well.
std::string Redactor::withoutCode(std::string_view text, bool isMarkdown) {
  m_isBelowFile = false;
  bool isFenced = false;
  return byLine(text, [&](std::string_view line) -> std::string {
    const bool isFence = isMarkdown && line.starts_with("```");
    if (isFence) isFenced = !isFenced;
    if (isFenced && !isFence) return ++m_removed["line of source"], std::string();
    if (!isJson(line)) return lineWithoutCode(line);
    std::string out;
    std::string_view key;
    for (std::size_t at = 0; at < line.size();) {
      const std::size_t open = std::min(line.find('"', at), line.size());
      out += line.substr(at, open - at);
      if (open == line.size()) break;
      const std::size_t close = endOfText(line, open + 1);
      const std::string_view inside = line.substr(open + 1, close - open - 1);
      out += '"' + textWithoutCode(key, inside);
      if (close < line.size()) out += '"';
      const std::size_t next = line.find_first_not_of(" ", close + 1);
      key = next != std::string_view::npos && line[next] == ':' ? inside : std::string_view();
      at = close + 1;
    }
    return out;
  });
}

bool isBinaryText(std::string_view text) { return text.contains('\0') || !isUtf8(text); }

bool Redactor::leavesOut(const std::string& name, std::string_view text) {
  const auto ends = [&](std::initializer_list<std::string_view> endings) {
    return std::ranges::any_of(endings, [&](auto ending) { return name.ends_with(ending); });
  };
  const bool isValues = isBinaryText(text) || ("/" + name).contains("/storages/") ||
                        ends({".safetensors", ".pt", ".pth", ".npy", ".npz", ".bin", "values.jsonl"});
  if (m_wanted.weights && isValues && ++m_removed["file of values"] > 0) return true;
  // A check's own copies of the script, and the page of its report; a repro of a graph is no source of the user's.
  const bool isGenerated =
      std::ranges::any_of(signsOfGenerated, [&](std::string_view sign) { return text.contains(sign); });
  const bool isSource = (ends({".py"}) && !isGenerated) || ends({"report.html", "journal.jsonl"});
  return m_wanted.code && isSource && ++m_removed["script"] > 0;
}

std::string Redactor::redacted(const std::string& name, std::string_view text) {
  std::string out(text);
  if (m_wanted.weights) out = withoutStorages(out);
  m_isReport = name.ends_with("report.json");
  if (m_wanted.code) out = withoutCode(out, name.ends_with(".md"));
  if (m_wanted.paths) out = withoutPaths(out);
  return m_wanted.any() && out.contains("\"has_payload\"") ? withPayloadSums(out) : out;
}

std::vector<std::string> Redactor::told() const {
  std::vector<std::string> rows;
  for (const auto& [what, count] : m_removed)
    if (count > 0) rows.push_back(fmt::format("{}: {}", what, count));
  return rows;
}

std::string withPayloadSums(std::string_view log) {
  constexpr std::string_view announced = "\"has_payload\": \"";
  constexpr std::size_t digits = 32;
  std::string out(log);
  for (std::size_t at = out.find(announced); at != std::string::npos; at = out.find(announced, at + 1)) {
    const std::size_t sum = at + announced.size(), line = out.find('\n', at);
    if (line == std::string::npos || sum + digits >= line || out[sum + digits] != '"') continue;
    std::string payload;
    for (std::size_t next = line + 1; next < out.size() && out[next] == '\t';) {
      const std::size_t end = std::min(out.find('\n', next), out.size());
      if (next != line + 1) payload += '\n';
      payload.append(out, next + 1, end - next - 1);
      next = end + 1;
    }
    const std::string fresh = md5Hex(payload);
    if (fresh.size() == digits) out.replace(sum, digits, fresh);
  }
  return out;
}

}  // namespace kerf::workbench
