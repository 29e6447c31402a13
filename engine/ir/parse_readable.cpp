// Reader of classes: __init__ kept as text, forward as a graph, nested classes as submodules.
#include <algorithm>

#include "engine/ir/forward_reader.h"
#include "engine/ir/parser.h"

namespace kerf::inline ir {
namespace {

constexpr int maxClassNesting = 50;

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

struct Line {
  std::string_view text;  ///< without indentation
  std::size_t indent = 0;
  bool blank() const { return text.empty() || text.starts_with('#'); }
  bool starts(std::string_view word) const { return text.starts_with(word); }
};

class ModuleReader {
 public:
  ModuleReader(std::string_view text, int firstLine, PartialReading* partial = nullptr)
      : m_text(text), m_line(firstLine), m_partial(partial) {}

  Result<GraphModule> read() {
    std::vector<GraphModule> modules;
    while (skipBlank()) {
      GraphModule module;
      const Line line = peek();
      if (line.starts("class "))
        KERF_CHECK(readClass(module, 0));
      else if (line.starts("def "))
        KERF_CHECK(readForward(module));
      else if (m_partial == nullptr)
        return pythonError(m_line,
                           fmt::format("expected a class or 'def forward', found '{}'", line.text.substr(0, 40)));
      if (!line.starts("class ") && !line.starts("def ")) {
        skipLine();
        continue;
      }
      modules.push_back(std::move(module));
    }
    if (modules.empty()) return pythonError(m_line, "there is no 'def forward' in the text");
    return joined(std::move(modules));
  }

 private:
  /// Classes before the last one are bodies of its higher-order ops, made by `self.path = Name()` in __init__.
  static GraphModule joined(std::vector<GraphModule> modules) {
    GraphModule model = std::move(modules.back());
    modules.pop_back();
    for (GraphModule& nested : modules) {
      std::string path = nested.className;
      const std::size_t call = model.initText.find(" = " + nested.className + "()");
      const std::size_t self = call == std::string::npos ? call : model.initText.rfind("self.", call);
      if (self != std::string::npos) path = model.initText.substr(self + 5, call - self - 5);
      model.submodules.add(path, Submodule{std::make_shared<const GraphModule>(std::move(nested)), {}});
    }
    return model;
  }

  Line peek() const {
    const std::size_t end = std::min(m_text.find('\n', m_at), m_text.size());
    const std::string_view raw = m_text.substr(m_at, end - m_at);
    return {trim(raw), std::min(raw.find_first_not_of(" \t"), raw.size())};
  }

  void skipLine() {
    m_at = std::min(m_text.find('\n', m_at), m_text.size() - 1) + 1;
    ++m_line;
  }

  /// False at the end of the text.
  bool skipBlank() {
    while (m_at < m_text.size() && peek().blank()) skipLine();
    return m_at < m_text.size();
  }

  Result<void> readClass(GraphModule& module, int depth) {
    if (depth > maxClassNesting)
      return fail(
          Error{ErrorCode::TooLarge, fmt::format("classes nest deeper than {}", maxClassNesting), {}, m_line, {}, {}});
    const Line header = peek();
    const int headerLine = m_line;
    const std::size_t nameEnd = header.text.find_first_of("(:");
    if (nameEnd == std::string_view::npos) return pythonError(m_line, "a class needs a name and a ':'");
    module.className = trim(header.text.substr(6, nameEnd - 6));
    skipLine();
    bool hasForward = false;
    std::vector<GraphModule> nested;
    while (skipBlank() && peek().indent > header.indent) {
      const Line line = peek();
      if (line.starts("def forward(")) {
        if (hasForward) return pythonError(m_line, fmt::format("class {} has two forward methods", module.className));
        KERF_CHECK(readForward(module));
        hasForward = true;
      } else if (line.starts("class ")) {
        nested.emplace_back();
        KERF_CHECK(readClass(nested.back(), depth + 1));
      } else if (line.starts("def __init__")) {
        readInit(module, line.indent);
      } else {
        skipBlock(line.indent);
      }
    }
    if (!hasForward) return pythonError(headerLine, fmt::format("class {} has no forward method", module.className));
    addNested(module, std::move(nested));
    return {};
  }

  /// What the graph mentions of `self`, in order, without the modules of these classes.
  static std::vector<std::string> unnamed(const Graph& graph, bool withAttributes,
                                          const std::vector<GraphModule>& nested) {
    std::vector<std::string> names;
    for (const NodeId id : graph.order()) {
      const Node& node = graph.node(id);
      if (node.op() != Opcode::CallModule && (node.op() != Opcode::GetAttr || !withAttributes)) continue;
      const bool isClass = std::ranges::find(nested, node.target(), &GraphModule::className) != nested.end();
      if (!isClass && std::ranges::find(names, node.target()) == names.end()) names.push_back(node.target());
    }
    return names;
  }

  /// A class is called as its attribute; older printers call them all GraphModule, in the order of the attributes.
  static void addNested(GraphModule& module, std::vector<GraphModule> nested) {
    const auto isOld = [](const GraphModule& one) { return one.className == "GraphModule"; };
    const auto count = std::size_t(std::ranges::count_if(nested, isOld));
    std::vector<std::string> names = unnamed(module.graph, true, nested);
    if (names.size() != count) names = unnamed(module.graph, false, nested);
    std::size_t next = 0;
    for (GraphModule& one : nested) {
      const std::string path = isOld(one) && names.size() == count ? names[next++] : one.className;
      module.submodules.add(path, Submodule{std::make_shared<const GraphModule>(std::move(one)), {}});
    }
  }

  /// Up to the next method or class: module reprs may spread over lines of any indentation.
  void readInit(GraphModule& module, std::size_t indent) {
    skipLine();
    module.initLine = m_line;
    const std::size_t begin = m_at;
    while (m_at < m_text.size()) {
      const Line line = peek();
      if (line.indent <= indent && (line.starts("def ") || line.starts("class ") || line.starts("@"))) break;
      skipLine();
    }
    module.initText = m_text.substr(begin, m_at - begin);
  }

  /// A statement that means nothing here, with everything indented below it.
  void skipBlock(std::size_t indent) {
    skipLine();
    while (skipBlank() && peek().indent > indent) skipLine();
  }

  Result<void> readForward(GraphModule& module) {
    const std::size_t begin = m_at;
    const int line = m_line;
    ForwardReader reader(m_text.substr(m_at), m_line, module, m_partial);
    KERF_CHECK(reader.read());
    m_at = std::min(m_at + reader.endOffset(), m_text.size());
    const std::size_t lineStart = m_text.substr(0, m_at).rfind('\n');
    m_at = m_at == m_text.size() ? m_at : lineStart == std::string_view::npos ? 0 : lineStart + 1;
    m_line = reader.endLine();
    if (m_at > begin) return {};
    m_at = begin;  // something stands behind the return on its line
    m_line = line;
    skipLine();
    return {};
  }

  std::string_view m_text;
  std::size_t m_at = 0;
  int m_line;
  PartialReading* m_partial;
};

}  // namespace

Result<GraphModule> parseReadable(std::string_view text, int firstLine) {
  KERF_CHECK(checkPythonText(text, firstLine));
  return ModuleReader(text, firstLine).read();
}

Result<GraphModule> parsePartialReadable(std::string_view text, int firstLine, PartialReading& partial) {
  KERF_CHECK(checkPythonText(text, firstLine));
  return ModuleReader(text, firstLine, &partial).read();
}

}  // namespace kerf::inline ir
