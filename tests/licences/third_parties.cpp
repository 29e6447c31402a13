#include "tests/licences/third_parties.h"

#include <fnmatch.h>

#include <algorithm>
#include <iterator>
#include <sstream>

namespace kerf::licences {

namespace {

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<std::string> split(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  for (std::size_t at; (at = text.find(separator, from)) != std::string::npos; from = at + separator.size())
    parts.push_back(trimmed(text.substr(from, at - from)));
  parts.push_back(trimmed(text.substr(from)));
  return parts;
}

/// What stands between `backticks`.
std::vector<std::string> quoted(const std::string& cell) {
  std::vector<std::string> words;
  const auto parts = split(cell, "`");
  for (std::size_t i = 1; i < parts.size(); i += 2) words.push_back(parts[i]);
  return words;
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

}  // namespace

/// Rows have six cells: name, files, packages, version, use, licence.
ThirdParties::ThirdParties(const std::string& page) {
  std::istringstream lines(page);
  std::string block;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      block = line.substr(3);
    } else if (block == "plugins") {
      std::ranges::copy(words(line), std::back_inserter(m_plugins));
    } else if (block == "licences") {
      auto parts = words(line);
      const bool ifReplaceable = !parts.empty() && parts.back() == "replaceable";
      if (ifReplaceable) parts.pop_back();
      std::string licence;
      for (const auto& part : parts) licence += (licence.empty() ? "" : " ") + part;
      if (!licence.empty()) (ifReplaceable ? m_replaceable : m_everywhere).insert(licence);
    } else if (line.starts_with("| ") && line.find('`') != std::string::npos) {
      const auto cells = split(line, "|");
      if (cells.size() != 8) continue;
      const auto uses = split(cells[5], ",");
      m_rows.push_back({cells[1], quoted(cells[2]), quoted(cells[3]), {uses.begin(), uses.end()}, cells[6]});
    }
  }
}

const ThirdParty* ThirdParties::find(const std::string& file) const {
  const auto lists = [&](const std::string& pattern) { return ::fnmatch(pattern.c_str(), file.c_str(), 0) == 0; };
  const auto row =
      std::ranges::find_if(m_rows, [&](const auto& each) { return std::ranges::any_of(each.files, lists); });
  return row == m_rows.end() ? nullptr : &*row;
}

const ThirdParty* ThirdParties::findPackage(const std::string& package) const {
  const auto row = std::ranges::find_if(
      m_rows, [&](const auto& each) { return std::ranges::find(each.packages, package) != each.packages.end(); });
  return row == m_rows.end() ? nullptr : &*row;
}

bool ThirdParties::allows(const std::string& licence, const std::string& use) const {
  const auto single = [&](const std::string& each) {
    return m_everywhere.contains(each) || (use == "dynamic" && m_replaceable.contains(each));
  };
  return std::ranges::any_of(split(licence, " OR "),
                             [&](const auto& side) { return std::ranges::all_of(split(side, " AND "), single); });
}

std::string ThirdParties::objection(const std::string& file, const std::string& use) const {
  const ThirdParty* row = find(file);
  if (!row) return file + " is not on the list";
  if (!row->uses.contains(use)) return file + " is used as \"" + use + "\", which its row does not say";
  if (!allows(row->licence, use))
    return file + " has the licence " + row->licence + ", which is not allowed for \"" + use + "\"";
  return "";
}

}  // namespace kerf::licences
