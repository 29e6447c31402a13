#include "engine/capture/common/wrapper_code.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace kerf::inline capture {
namespace {

using Names = std::vector<std::string>;

/// "# Topologically Sorted Source Nodes: [a, b], Original ATen: […]", or "# Unsorted Source Nodes: …".
constexpr std::string_view sourcesMark = "Source Nodes: [";
constexpr std::size_t mostBeforeMark = 32;
constexpr std::string_view fragmentMark = "# Graph fragment:";
constexpr std::string_view handleMark = "# [Provenance debug handles] ";
constexpr std::string_view partMark = "# AOT ID: ['";
/// What calls of existing functions begin with.
constexpr std::array<std::string_view, 6> externPrefixes = {"extern_kernels.", "torch.ops.",  "aten.",
                                                            "inductor_ops.",   "_quantized.", "torch._C._nn."};

bool isWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::string_view wordAt(std::string_view text) {
  return text.substr(0, std::size_t(std::ranges::find_if_not(text, isWord) - text.begin()));
}

/// "a, b" → a, b
Names splitNames(std::string_view text) {
  Names names;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    if (const std::string_view name = trim(text.substr(0, comma)); !name.empty()) names.emplace_back(name);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return names;
}

Names sourcesOf(std::string_view comment) {
  const std::string_view rest = comment.substr(comment.find(sourcesMark) + sourcesMark.size());
  return splitNames(rest.substr(0, rest.find(']')));
}

/// Names of values in an argument list: identifiers that are neither called, nor keywords, nor attributes.
struct ArgumentNames {
  Names values;
  std::string out;  ///< `out=buf3`
};

ArgumentNames argumentNames(std::string_view text) {
  ArgumentNames names;
  std::string keyword;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '\'' || c == '"') {
      at = std::min(text.find(c, at + 1), text.size() - 1) + 1;
      continue;
    }
    if (!isWord(c) || std::isdigit(static_cast<unsigned char>(c)) != 0) {
      if (c == ',') keyword.clear();
      ++at;
      while (isWord(c) && at < text.size() && (isWord(text[at]) || text[at] == '.')) ++at;
      continue;
    }
    const std::string_view word = wordAt(text.substr(at));
    const bool isAttribute = at > 0 && text[at - 1] == '.';
    at += word.size();
    const char next = at < text.size() ? text[at] : ',';
    if (next == '=') {
      keyword = word;
    } else if (next != '(' && next != '.' && !isAttribute) {
      if (keyword == "out")
        names.out = word;
      else if (keyword != "stream")
        names.values.emplace_back(word);
    }
  }
  return names;
}

/// "buf4, reinterpret_tensor(buf1, (2, 3), (3, 1), 0), )" → buf4, buf1; empty for what is no value's name.
Names returnedNames(std::string_view text) {
  Names names;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size() && depth >= 0; ++at) {
    if (text[at] == '(' || text[at] == '[') ++depth;
    if (text[at] == ')' || text[at] == ']') --depth;
    const bool ends = depth < 0 || (text[at] == ',' && depth == 0);
    if (!ends) continue;
    const std::string_view piece = trim(text.substr(begin, at - begin));
    begin = at + 1;
    if (piece.empty()) continue;
    const ArgumentNames inside = argumentNames(piece);
    names.push_back(inside.values.empty() ? std::string() : inside.values.front());
  }
  return names;
}

class WrapperReader {
 public:
  void line(std::string_view text) {
    ++m_line;
    if (m_inBody) {
      m_inBody = text.find("'''") == std::string_view::npos;
      if (m_inDefinition) m_code.kernels.back().lastLine = m_line;
      m_inDefinition = m_inDefinition && m_inBody;
      return;
    }
    const std::string_view content = trim(text);
    if (content.starts_with('#')) {
      if (m_commentsFrom == 0) m_commentsFrom = m_line;
      return comment(content);
    }
    if (!content.empty()) statement(content);
    m_commentsFrom = 0;
  }

  WrapperCode finish() { return std::move(m_code); }

 private:
  void comment(std::string_view content) {
    if (content.find(sourcesMark) < mostBeforeMark) {
      m_above = {};
      m_above.firstLine = m_commentsFrom;
      m_above.sources = sourcesOf(content);
      m_inFragment = false;
    } else if (content.starts_with(fragmentMark)) {
      m_inFragment = true;
    } else if (content.starts_with(handleMark)) {
      handle(content.substr(handleMark.size()));
    } else if (content.starts_with(partMark) && m_code.part.empty()) {
      const std::string_view id = content.substr(partMark.size());
      const std::string_view whole = id.substr(0, id.find('\''));
      m_code.part = whole.substr(whole.rfind('_') + 1);
    } else if (m_inFragment) {
      fragmentLine(trim(content.substr(1)));
    }
  }

  /// "%add : Tensor "…" = PlaceHolder[target=add]", "%mul : … = call_function[…](…)", "return %mul,%buf7".
  void fragmentLine(std::string_view content) {
    if (content.starts_with("return ")) {
      for (const std::string& name : splitNames(content.substr(7)))
        m_above.stored.push_back(name.starts_with('%') ? name.substr(1) : name);
      return;
    }
    if (!content.starts_with('%')) return;
    const std::string name(wordAt(content.substr(1)));
    const std::size_t placeholder = content.find(" = PlaceHolder[target=");
    const std::size_t call = content.find(" = call_");
    if (name.empty()) return;
    if (placeholder != std::string_view::npos && (call == std::string_view::npos || placeholder < call))
      m_above.loaded.push_back(name);
    else if (call != std::string_view::npos || content.find(" = get_attr[") != std::string_view::npos)
      m_above.computed.push_back(name);
  }

  /// "triton_poi_fused_add_0:1"; several handles stand for one call.
  void handle(std::string_view content) {
    const std::size_t colon = content.rfind(':');
    if (colon == std::string_view::npos) return;
    std::from_chars(content.data() + colon + 1, content.data() + content.size(), m_handle);
  }

  void statement(std::string_view content) {
    if (content.find("'''") != std::string_view::npos) {
      const std::size_t first = content.find("'''");
      m_inBody = content.find("'''", first + 3) == std::string_view::npos;
    }
    if (content.find(" = async_compile.") != std::string_view::npos) return define(content);
    if (content.starts_with("return (")) m_code.returned = returnedNames(content.substr(8));
    const bool isCall = call(content);
    // Comments belong to the next call; allocations and stream lines may stand between.
    if (isCall) m_above = {};
    if (isCall) m_handle = 0;
  }

  void define(std::string_view content) {
    const std::string_view name = wordAt(content);
    const bool isKernel = content.substr(name.size()).starts_with(" = async_compile.");
    if (!isKernel || name.empty()) return;
    WrapperKernel kernel = std::exchange(m_above, {});
    kernel.name = name;
    kernel.line = kernel.lastLine = m_line;
    m_inDefinition = m_inBody;
    kernel.firstLine = m_commentsFrom == 0 ? m_line : m_commentsFrom;
    m_inFragment = false;
    m_known.emplace(kernel.name, m_code.kernels.size());
    m_code.kernels.push_back(std::move(kernel));
  }

  /// "buf7 = f(…)", "f(…)", "kernel.run(…)", "buf8 = buf7[0]".
  bool call(std::string_view content) {
    std::string_view result;
    const std::string_view word = wordAt(content);
    if (content.substr(word.size()).starts_with(" = ")) {
      result = word;
      content.remove_prefix(word.size() + 3);
    }
    const std::size_t end =
        std::size_t(std::ranges::find_if_not(content, [](char c) { return isWord(c) || c == '.'; }) - content.begin());
    std::string_view callee = content.substr(0, end);
    if (end == content.size()) return false;
    if (content[end] == '[' && !result.empty()) {
      if (isGeneratedKernel(callee)) m_code.items.emplace_back(result, callee);
      return false;
    }
    if (content[end] != '(') return false;
    if (callee.ends_with(".run")) callee.remove_suffix(4);
    const bool isExtern =
        std::ranges::any_of(externPrefixes, [&](std::string_view prefix) { return callee.starts_with(prefix); });
    if (!isExtern && !m_known.contains(std::string(callee))) return false;
    ArgumentNames names = argumentNames(content.substr(end + 1));
    WrapperCall one;
    one.callee = callee;
    one.number = m_handle > 0 ? m_handle : int(m_code.calls.size()) + 1;
    one.arguments = std::move(names.values);
    one.result = !names.out.empty() ? names.out : std::string(result);
    one.sources = m_above.sources;
    one.line = m_line;
    one.firstLine = m_above.firstLine != 0 ? m_above.firstLine : m_commentsFrom != 0 ? m_commentsFrom : m_line;
    m_code.calls.push_back(std::move(one));
    return true;
  }

  WrapperCode m_code;
  std::unordered_map<std::string, std::size_t> m_known;
  WrapperKernel m_above;  ///< what the comments above say
  int m_handle = 0;
  int m_line = 0;
  int m_commentsFrom = 0;       ///< first line of the comments right above; 0: none
  bool m_inBody = false;        ///< inside a kernel's source
  bool m_inDefinition = false;  ///< and that of the last of m_code.kernels
  bool m_inFragment = false;
};

}  // namespace

std::string WrapperCall::name() const { return fmt::format("{}:{}", callee, number); }

const WrapperKernel* WrapperCode::kernel(std::string_view name) const {
  const auto found = std::ranges::find(kernels, name, &WrapperKernel::name);
  return found == kernels.end() ? nullptr : &*found;
}

bool isGeneratedKernel(std::string_view name) { return !name.empty() && name.find('.') == std::string_view::npos; }

WrapperCode readWrapperCode(std::string_view text) {
  WrapperReader reader;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    reader.line(text.substr(at, end - at));
    at = end + 1;
  }
  return reader.finish();
}

}  // namespace kerf::inline capture
