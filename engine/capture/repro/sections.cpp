#include "engine/capture/repro/sections.h"

#include <algorithm>
#include <optional>

namespace kerf::inline capture {
namespace {

bool isTopLevel(const SourceText& source, std::size_t line) {
  return source.startsStatement(line) && indentation(source.lines[line]) == 0;
}

/// The block that the statement at `line` opens: up to the next statement indented no deeper, blank lines at its end
/// cut.
LineRange blockAt(const SourceText& source, std::size_t line, std::size_t end) {
  const std::size_t indent = indentation(source.lines[line]);
  std::size_t last = line + 1;
  for (std::size_t next = line + 1; next < end; ++next) {
    if (source.startsStatement(next) && indentation(source.lines[next]) <= indent) break;
    const std::string_view content = trimmed(source.lines[next]);
    const bool continues = source.inString[next] != 0 || source.inBracket[next] != 0;
    const bool deeperComment = !content.empty() && indentation(source.lines[next]) > indent;
    if (continues || deeperComment) last = next + 1;
  }
  return {line, last};
}

std::string identifierAt(std::string_view text) {
  const auto end = std::find_if(text.begin(), text.end(),
                                [](unsigned char c) { return std::isalnum(c) == 0 && c != '_' && c < 0x80; });
  return {text.begin(), end};
}

ClassSection readClass(const SourceText& source, std::size_t line) {
  ClassSection section;
  section.name = identifierAt(trimmed(source.lines[line].substr(6)));
  section.all = blockAt(source, line, source.lines.size());
  for (std::size_t at = line + 1; at < section.all.last; ++at) {
    if (!source.startsStatement(at)) continue;
    const std::string_view content = trimmed(source.lines[at]);
    if (content.starts_with("def __init__") && section.init.empty())
      section.init = blockAt(source, at, section.all.last);
    if (content.starts_with("def forward") && section.forward.empty())
      section.forward = blockAt(source, at, section.all.last);
  }
  return section;
}

/// Name of the class in `mod = Repro()`, if that line exists.
std::optional<std::string> instantiatedClass(const SourceText& source) {
  for (std::size_t line = 0; line < source.lines.size(); ++line)
    if (isTopLevel(source, line) && source.lines[line].starts_with("mod = "))
      return identifierAt(source.lines[line].substr(6));
  return std::nullopt;
}

struct TopLevel {
  std::vector<ClassSection> classes;
  LineRange loader;
};

TopLevel collect(const SourceText& source) {
  TopLevel found;
  for (std::size_t line = 0; line < source.lines.size();) {
    std::size_t next = line + 1;
    if (isTopLevel(source, line)) {
      if (source.lines[line].starts_with("class ")) {
        found.classes.push_back(readClass(source, line));
        next = found.classes.back().all.last;
      } else if (source.lines[line].starts_with("def load_args") && found.loader.empty()) {
        found.loader = blockAt(source, line, source.lines.size());
        next = found.loader.last;
      }
    }
    line = next;
  }
  return found;
}

std::unexpected<Error> noModel(const SourceText& source) {
  if (source.text.find("BackwardState") != std::string_view::npos)
    return fail(ErrorCode::BadInput, "PyTorch wrote no repro here: an input of the graph was a BackwardState");
  return fail(ErrorCode::BadInput, "no PyTorch repro: the file has no class with a forward method");
}

}  // namespace

Result<ReproSections> findSections(const SourceText& source) {
  TopLevel found = collect(source);
  std::erase_if(found.classes, [](const ClassSection& section) { return section.forward.empty(); });
  if (found.classes.empty()) return noModel(source);
  const std::string wanted = instantiatedClass(source).value_or("Repro");
  auto model =
      std::find_if(found.classes.begin(), found.classes.end(), [&](const auto& c) { return c.name == wanted; });
  if (model == found.classes.end()) model = std::prev(found.classes.end());

  ReproSections sections;
  sections.model = *model;
  found.classes.erase(model);
  sections.nested = std::move(found.classes);
  sections.header = {0, sections.model.all.first};
  sections.loader = found.loader;
  const std::size_t end = source.lines.size();
  if (found.loader.empty()) {
    sections.main = {sections.model.all.last, end};
  } else {
    if (found.loader.first < sections.model.all.first) {
      sections.header.last = found.loader.first;
      sections.behindLoader = {found.loader.last, sections.model.all.first};
      sections.main = {sections.model.all.last, end};
      return sections;
    }
    sections.between = {sections.model.all.last, found.loader.first};
    sections.main = {found.loader.last, end};
  }
  return sections;
}

}  // namespace kerf::inline capture
