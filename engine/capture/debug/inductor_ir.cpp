#include "engine/capture/debug/inductor_ir.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

namespace kerf::inline capture {
namespace {

bool isWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

void addName(std::vector<std::string>& names, std::string_view name) {
  if (!name.empty()) names.emplace_back(name);
}

/// "op0: SchedulerNode(ComputedBuffer)"; false for other lines.
bool readHeader(std::string_view line, InductorIrNode& node) {
  const std::size_t colon = line.find(": ");
  if (colon == std::string_view::npos || colon == 0 || !line.ends_with(')')) return false;
  const std::string_view name = line.substr(0, colon);
  const std::string_view rest = line.substr(colon + 2);
  const std::size_t open = rest.find('(');
  if (open == std::string_view::npos || open == 0 || !std::ranges::all_of(name, isWord)) return false;
  const std::string_view kind = rest.substr(0, open);
  if (!std::ranges::all_of(kind, isWord) || std::isupper(static_cast<unsigned char>(kind.front())) == 0) return false;
  node.name = name;
  node.kind = kind;
  node.contents = rest.substr(open + 1, rest.size() - open - 2);
  return true;
}

/// "op3_op4.snodes[0] =" → "op3_op4"; empty for other lines.
std::string_view fusedOwner(std::string_view line) {
  const std::size_t at = line.find(".snodes[");
  if (at == std::string_view::npos || at == 0 || !std::ranges::all_of(line.substr(0, at), isWord)) return {};
  return line.substr(0, at);
}

/// Names in "MemoryDep('buf3', c0, {…})", "StarDep(name='buf2', mode=None)", "WeakDep(name='buf1', …)".
void addDependencies(std::string_view line, std::vector<std::string>& names) {
  for (std::size_t at = line.find("Dep("); at != std::string_view::npos; at = line.find("Dep(", at + 4)) {
    std::string_view rest = line.substr(at + 4);
    if (rest.starts_with("name=")) rest.remove_prefix(5);
    if (!rest.starts_with('\'')) continue;
    rest.remove_prefix(1);
    addName(names, rest.substr(0, rest.find('\'')));
  }
}

/// Names in "origins=OrderedSet([relu, add])", "origins={relu}", "origins: [relu]".
void addOrigins(std::string_view line, std::vector<std::string>& names) {
  const std::size_t at = line.find("origins");
  if (at == std::string_view::npos) return;
  std::string_view rest = line.substr(at);
  const std::size_t open = rest.find_first_of("[{");
  if (open == std::string_view::npos) return;
  rest.remove_prefix(open + 1);
  rest = rest.substr(0, rest.find_first_of("]}"));
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view name = trim(rest.substr(0, comma));
    if (std::ranges::all_of(name, isWord)) addName(names, name);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
}

enum class Section { None, Writes, Reads, Outputs };

class IrReader {
 public:
  explicit IrReader(std::int64_t limit) : m_limit(std::size_t(limit)) {}

  Result<void> line(std::string_view text) {
    ++m_line;
    if (text.find('\0') != std::string_view::npos) return error("the text holds a NUL byte");
    const bool indented = text.starts_with(' ') || text.starts_with('\t');
    const std::string_view content = trim(text);
    if (content.empty()) return {};
    if (indented) return inner(content);
    m_section = Section::None;
    if (const std::string_view owner = fusedOwner(content); !owner.empty()) {
      m_owner = owner;
      return {};
    }
    InductorIrNode node;
    if (readHeader(content, node)) return begin(std::move(node));
    if (m_current == nullptr)
      return error(fmt::format("expected a scheduler node such as 'op0: SchedulerNode(ComputedBuffer)', found '{}'",
                               content.substr(0, 40)));
    property(content);
    return {};
  }

  Result<std::vector<InductorIrNode>> finish() {
    if (!m_owner.empty()) return error("the text ends where a fused node is expected: truncated?");
    if (m_section == Section::Outputs) return error("the text ends within a list of outputs: truncated?");
    for (InductorIrNode& node : m_nodes)
      for (auto* names : {&node.outputs, &node.reads, &node.origins}) keepFirst(*names);
    return std::move(m_nodes);
  }

 private:
  std::unexpected<Error> error(std::string message, ErrorCode code = ErrorCode::BadInput) const {
    return fail(Error{code, std::move(message), {}, m_line, {}, {}});
  }

  Result<void> begin(InductorIrNode node) {
    if (++m_count > m_limit) return error(fmt::format("more than {} nodes", m_limit), ErrorCode::TooLarge);
    node.line = m_line;
    if (!m_owner.empty()) {
      const auto owner = m_byName.find(m_owner);
      if (owner == m_byName.end()) return error(fmt::format("the fused node '{}' is not above its parts", m_owner));
      m_nodes[owner->second].members.push_back(node.name);
      m_byName[node.name] = owner->second;  // what follows describes the part; parts may be fused again
      m_owner.clear();
      m_current = &m_nodes[owner->second];
      return {};
    }
    m_byName[node.name] = m_nodes.size();
    m_nodes.push_back(std::move(node));
    m_current = &m_nodes.back();
    return {};
  }

  void property(std::string_view content) {
    const std::size_t equals = content.find('=');
    const std::string_view key = trim(content.substr(0, equals));
    const std::string_view value = equals == std::string_view::npos ? "" : trim(content.substr(equals + 1));
    if (key.ends_with(".outputs"))
      m_section = value.ends_with(']') ? Section::None : Section::Outputs;
    else if (key.ends_with(".writes"))
      m_section = Section::Writes;
    else if (key.ends_with("met_dependencies"))
      m_section = Section::Reads;
    else if (key.ends_with(".node.kernel") && m_current->kernel.empty())
      m_current->kernel = value;
    dependencies(content);
    addOrigins(content, m_current->origins);
  }

  Result<void> inner(std::string_view content) {
    if (m_current == nullptr) return error("the text does not begin with a scheduler node");
    if (m_section == Section::Outputs) {
      InductorIrNode output;
      const std::size_t colon = content.find(": ");
      if (colon != std::string_view::npos && std::ranges::all_of(content.substr(0, colon), isWord) &&
          content.find('=') == std::string_view::npos)
        addName(m_current->outputs, content.substr(0, colon));
    }
    dependencies(content);
    addOrigins(content, m_current->origins);
    return {};
  }

  void dependencies(std::string_view content) {
    if (m_section == Section::Writes) addDependencies(content, m_current->outputs);
    if (m_section == Section::Reads) addDependencies(content, m_current->reads);
  }

  std::size_t m_limit;
  std::size_t m_count = 0;
  int m_line = 0;
  Section m_section = Section::None;
  std::string m_owner;  ///< a fused node whose next part is about to come
  InductorIrNode* m_current = nullptr;
  std::vector<InductorIrNode> m_nodes;
  std::unordered_map<std::string, std::size_t> m_byName;
};

}  // namespace

void keepFirst(std::vector<std::string>& names) {
  std::unordered_set<std::string> known;
  std::erase_if(names, [&](const std::string& name) { return !known.insert(name).second; });
}

Result<std::vector<InductorIrNode>> readInductorIr(std::string_view text, std::int64_t limit) {
  IrReader reader(limit);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    KERF_CHECK(reader.line(text.substr(at, end - at)));
    at = end + 1;
  }
  return reader.finish();
}

}  // namespace kerf::inline capture
