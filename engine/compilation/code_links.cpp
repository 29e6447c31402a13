#include "engine/compilation/code_links.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "engine/capture/common/wrapper_code.h"

namespace kerf::inline compilation {

namespace {

using Names = std::vector<std::string>;

bool isWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

void addName(Names& names, const std::string& name) {
  if (!name.empty() && std::ranges::find(names, name) == names.end()) names.push_back(name);
}

void addNames(Names& names, const Names& more) {
  for (const std::string& name : more) addName(names, name);
}

/// "in_ptr0", "out_ptr1", "in_out_ptr0": how kernels call the memory that they are given.
Names pointersOn(std::string_view line) {
  Names pointers;
  for (std::size_t at = 0; at < line.size();) {
    if (!isWord(line[at])) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    while (at < line.size() && isWord(line[at])) ++at;
    const std::string_view word = line.substr(begin, at - begin);
    if (word.find("_ptr") != std::string_view::npos) pointers.emplace_back(word);
  }
  return pointers;
}

std::vector<std::string_view> linesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

/// Whose value each buffer holds while the calls go on.
class Buffers {
 public:
  /// What an argument held when the call read it: an input of the graph goes by its own name.
  std::string heldBy(const std::string& argument) const {
    for (const auto* values : {&m_held, &m_reused})
      if (const auto held = values->find(argument); held != values->end()) return held->second;
    return argument.starts_with("buf") ? std::string() : argument;
  }

  /// "buf4 = buf0; del buf0  # reuse": what is read from it is the other's value, until it is written.
  void reuse(const std::string& buffer, const std::string& of) { m_reused[buffer] = heldBy(of); }

  /// Buffers that a call sees for the first time are its results, in the order of their numbers.
  void store(const WrapperCall& call, const Names& stores) {
    if (!isGeneratedKernel(call.callee)) {
      const std::string& result = call.result.empty() && !call.arguments.empty() ? call.arguments.back() : call.result;
      if (stores.size() == 1) m_held[result] = stores.front();
      return;
    }
    Names fresh;
    for (const std::string& argument : call.arguments)
      if (argument.starts_with("buf") && !m_held.contains(argument)) addName(fresh, argument);
    std::ranges::sort(fresh, {}, [](const std::string& name) { return std::pair(name.size(), name); });
    for (std::size_t i = 0; i < fresh.size(); ++i) m_held[fresh[i]] = fresh.size() == stores.size() ? stores[i] : "";
  }

  void addItem(const std::string& item, const std::string& tuple) {
    if (const auto held = m_held.find(tuple); held != m_held.end()) m_held.emplace(item, held->second);
  }

 private:
  std::map<std::string, std::string> m_held, m_reused;
};

struct Reuse {
  int line = 0;  ///< 1-based
  std::string buffer, of;
};

/// "buf4 = buf0; del buf0  # reuse", "buf4 = reinterpret_tensor(buf0, …); del buf0  # reuse".
std::vector<Reuse> reusesOf(const std::vector<std::string_view>& lines) {
  constexpr std::string_view view = "reinterpret_tensor(";
  const auto word = [](std::string_view text) {
    return text.substr(0, std::size_t(std::ranges::find_if_not(text, isWord) - text.begin()));
  };
  std::vector<Reuse> reuses;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string_view text = lines[i];
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    const std::string_view buffer = word(text);
    if (!buffer.starts_with("buf") || !text.substr(buffer.size()).starts_with(" = ")) continue;
    text.remove_prefix(buffer.size() + 3);
    if (text.starts_with(view)) text.remove_prefix(view.size());
    const std::string_view of = word(text);
    const char next = of.size() < text.size() ? text[of.size()] : ';';
    if (of.starts_with("buf") && (next == ';' || next == ','))
      reuses.push_back({int(i) + 1, std::string(buffer), std::string(of)});
  }
  return reuses;
}

class LinkFinder {
 public:
  LinkFinder(std::string_view program, const std::vector<RecordedFusionGroup>& groups)
      : m_lines(linesOf(program)), m_code(readWrapperCode(program)), m_reuses(reusesOf(m_lines)) {
    for (const RecordedFusionGroup& group : groups) m_groups.emplace(group.kernel, &group);
  }

  std::vector<CodeLink> run() {
    for (const WrapperCall& call : m_code.calls) addCall(call);
    for (const WrapperKernel& kernel : m_code.kernels) {
      m_links.push_back({CodeLink::Kind::Definition, kernel.firstLine - 1, kernel.lastLine - 1, kernel.name,
                         m_computed[kernel.name]});
      addAccesses(kernel);
    }
    std::ranges::stable_sort(m_links, {}, [](const CodeLink& link) { return std::pair(link.first, -link.last); });
    return std::move(m_links);
  }

 private:
  const RecordedFusionGroup* groupOf(const WrapperCall& call) const {
    auto found = m_groups.find(call.name());
    if (found == m_groups.end()) found = m_groups.find(call.callee);
    return found == m_groups.end() ? nullptr : found->second;
  }

  void addCall(const WrapperCall& call) {
    const RecordedFusionGroup* group = groupOf(call);
    const Names nodes = group != nullptr ? group->postGradNodes : Names();
    m_links.push_back({CodeLink::Kind::Call, call.firstLine - 1, call.line - 1, call.callee, nodes});
    addNames(m_computed[call.callee], nodes);
    auto& memory = m_memory[call.callee];
    memory.resize(std::max(memory.size(), call.arguments.size()));
    for (; m_nextReuse < m_reuses.size() && m_reuses[m_nextReuse].line < call.line; ++m_nextReuse)
      m_buffers.reuse(m_reuses[m_nextReuse].buffer, m_reuses[m_nextReuse].of);
    for (std::size_t i = 0; i < call.arguments.size(); ++i) addName(memory[i], m_buffers.heldBy(call.arguments[i]));
    m_buffers.store(call, group != nullptr ? group->stores : Names());
    for (const auto& [item, tuple] : m_code.items) m_buffers.addItem(item, tuple);
    for (std::size_t i = 0; i < call.arguments.size(); ++i) addName(memory[i], m_buffers.heldBy(call.arguments[i]));
  }

  /// A kernel's pointers are its first arguments, in order.
  void addAccesses(const WrapperKernel& kernel) {
    const auto memory = m_memory.find(kernel.name);
    if (memory == m_memory.end()) return;
    std::map<std::string, std::size_t> places;
    bool inBody = false;
    for (int line = kernel.line; line < std::min(kernel.lastLine, int(m_lines.size())); ++line) {
      const std::string_view text = m_lines[std::size_t(line)];
      if (text.find('\'') != std::string_view::npos) continue;  // a Triton kernel's meta data names them in quotes
      CodeLink link{CodeLink::Kind::Access, line, line, kernel.name, {}};
      for (const std::string& pointer : pointersOn(text)) {
        const std::size_t place = places.try_emplace(pointer, places.size()).first->second;
        if (inBody && place < memory->second.size()) addNames(link.nodes, memory->second[place]);
      }
      if (!link.nodes.empty()) m_links.push_back(std::move(link));
      inBody = inBody || (!places.empty() && (text.starts_with('{') || text.starts_with("def ")));
    }
  }

  const std::vector<std::string_view> m_lines;
  const WrapperCode m_code;
  const std::vector<Reuse> m_reuses;
  std::size_t m_nextReuse = 0;
  std::map<std::string, const RecordedFusionGroup*> m_groups;
  std::map<std::string, Names> m_computed;             ///< by kernel: what all of its calls compute
  std::map<std::string, std::vector<Names>> m_memory;  ///< by kernel: whose values each argument holds
  Buffers m_buffers;
  std::vector<CodeLink> m_links;
};

}  // namespace

std::vector<CodeLink> codeLinks(std::string_view program, const std::vector<RecordedFusionGroup>& groups) {
  return LinkFinder(program, groups).run();
}

std::vector<CodeLink> sourceLinks(std::string_view program) {
  const WrapperCode code = readWrapperCode(program);
  std::vector<CodeLink> links;
  std::map<std::string, Names> computed;
  for (const WrapperCall& call : code.calls) {
    links.push_back({CodeLink::Kind::Call, call.firstLine - 1, call.line - 1, call.callee, call.sources});
    addNames(computed[call.callee], call.sources);
  }
  for (const WrapperKernel& kernel : code.kernels) {
    Names nodes = kernel.sources;
    addNames(nodes, computed[kernel.name]);
    links.push_back({CodeLink::Kind::Definition, kernel.firstLine - 1, kernel.lastLine - 1, kernel.name, nodes});
  }
  std::ranges::stable_sort(links, {}, [](const CodeLink& link) { return std::pair(link.first, -link.last); });
  return links;
}

}  // namespace kerf::inline compilation
