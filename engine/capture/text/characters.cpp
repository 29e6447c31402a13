#include "engine/capture/text/characters.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace kerf::inline capture {
namespace {

struct Replacement {
  std::string_view from, to;
};

/// Characters of UTF-8 that word processors, chats and browsers put in the place of plain ones.
constexpr std::array<Replacement, 16> wideCharacters = {{{"\xc2\xa0", " "},
                                                         {"\xe2\x80\xaf", " "},
                                                         {"\xe2\x80\x82", " "},
                                                         {"\xe2\x80\x83", " "},
                                                         {"\xe2\x80\x89", " "},
                                                         {"\xe3\x80\x80", "  "},
                                                         {"\xe2\x80\x8b", ""},
                                                         {"\xef\xbb\xbf", ""},
                                                         {"\xe2\x80\x9c", "\""},
                                                         {"\xe2\x80\x9d", "\""},
                                                         {"\xe2\x80\x9e", "\""},
                                                         {"\xe2\x80\x98", "'"},
                                                         {"\xe2\x80\x99", "'"},
                                                         {"\xe2\x80\xa6", "..."},
                                                         {"\xc2\xad", ""},
                                                         {"\xe2\x88\x92", "-"}}};

constexpr std::array<Replacement, 8> entities = {{{"&quot;", "\""},
                                                  {"&#34;", "\""},
                                                  {"&#39;", "'"},
                                                  {"&#x27;", "'"},
                                                  {"&nbsp;", " "},
                                                  {"&lt;", "<"},
                                                  {"&gt;", ">"},
                                                  {"&amp;", "&"}}};

struct Tag {
  std::string_view name;
  bool breaksLine;
};
/// Tags of pages that show code; "<lambda>", "<function f at 0x1>" and "<eval_with_key>" are none.
constexpr std::array<Tag, 32> tags = {
    {{"span", false},   {"pre", true},    {"code", false}, {"div", true},   {"p", true},       {"br", true},
     {"a", false},      {"b", false},     {"i", false},    {"em", false},   {"strong", false}, {"td", false},
     {"tr", true},      {"th", false},    {"table", true}, {"tbody", true}, {"thead", true},   {"details", true},
     {"summary", true}, {"li", true},     {"ul", true},    {"ol", true},    {"img", false},    {"font", false},
     {"body", true},    {"html", true},   {"head", true},  {"tt", false},   {"samp", false},   {"blockquote", true},
     {"sub", false},    {"section", true}}};

constexpr std::array<std::string_view, 6> marksOfHtml = {"<pre", "<br", "<span ", "</code>", "&quot;", "&#39;"};
constexpr std::array<Replacement, 4> escapes = {{{"\\n", "\n"}, {"\\\"", "\""}, {"\\'", "'"}, {"\\t", "\t"}}};
constexpr std::size_t fewEscapes = 2;

template <std::size_t N>
const Replacement* replacementAt(std::string_view text, const std::array<Replacement, N>& table) {
  const auto* row = std::ranges::find_if(table, [&](const Replacement& r) { return text.starts_with(r.from); });
  return row == table.end() ? nullptr : row;
}

template <std::size_t N>
std::string replaced(std::string_view text, const std::array<Replacement, N>& table) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (const Replacement* row = replacementAt(text.substr(at), table)) {
      out += row->to;
      at += row->from.size();
    } else {
      out += text[at++];
    }
  }
  return out;
}

/// "\x1b[36m", which terminals show as a colour.
std::string withoutColours(std::string_view line) {
  std::string out;
  for (std::size_t at = 0; at < line.size();) {
    if (line[at] == '\x1b' && line.substr(at + 1).starts_with('[')) {
      at += 2;
      while (at < line.size() && std::isalpha(static_cast<unsigned char>(line[at])) == 0) ++at;
      ++at;
      continue;
    }
    out += line[at++];
  }
  return out;
}

/// The tag that begins at `text`, and how long it is; none if it is something else in angle brackets.
const Tag* tagAt(std::string_view text, std::size_t& length) {
  std::size_t at = 1;
  if (text.substr(at).starts_with('/')) ++at;
  const std::size_t begin = at;
  while (at < text.size() && std::isalpha(static_cast<unsigned char>(text[at])) != 0) ++at;
  const auto* tag = std::ranges::find(tags, text.substr(begin, at - begin), &Tag::name);
  if (tag == tags.end() || at >= text.size() || std::string_view(" />").find(text[at]) == std::string_view::npos)
    return nullptr;
  const std::size_t end = text.find('>', at);
  if (end == std::string_view::npos) return nullptr;
  length = end + 1;
  return tag;
}

std::string withoutTags(std::string_view line) {
  std::string out;
  for (std::size_t at = 0; at < line.size();) {
    std::size_t length = 0;
    const Tag* tag = line[at] == '<' ? tagAt(line.substr(at), length) : nullptr;
    if (tag == nullptr) {
      out += line[at++];
      continue;
    }
    at += length;
    if (tag->breaksLine && at < line.size()) out += '\n';
  }
  return replaced(out, entities);
}

/// A graph in one string, as repr() or JSON writes it: `"def forward(self, x):\n    return x\n"`.
std::string withoutEscapes(std::string_view line) {
  std::size_t breaks = 0;
  for (std::size_t at = line.find("\\n"); at != std::string_view::npos; at = line.find("\\n", at + 2)) ++breaks;
  const bool isCode =
      line.find("def forward(") != std::string_view::npos || line.find("class GraphModule(") != std::string_view::npos;
  if (!isCode || breaks < fewEscapes) return std::string(line);
  return replaced(line, escapes);
}

}  // namespace

PlainCharacters::PlainCharacters(std::string_view text)
    : m_colours(text.find('\x1b') != std::string_view::npos),
      m_html(std::ranges::any_of(marksOfHtml,
                                 [&](std::string_view mark) { return text.find(mark) != std::string_view::npos; })),
      m_wide(std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0x80; })),
      m_escaped(text.find("\\n") != std::string_view::npos) {}

std::string PlainCharacters::line(std::string_view line) const {
  if (line.ends_with('\r')) line.remove_suffix(1);
  std::string out(line);
  if (m_colours) out = withoutColours(out);
  if (m_wide) out = replaced(out, wideCharacters);
  if (m_html) out = withoutTags(out);
  if (m_escaped) out = withoutEscapes(out);
  return out;
}

}  // namespace kerf::inline capture
