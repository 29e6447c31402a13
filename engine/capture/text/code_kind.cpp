#include "engine/capture/text/code_kind.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "engine/capture/text/line_content.h"

namespace kerf::inline capture {
namespace {

/// What printers of graphs leave in a text and nobody writes.
constexpr std::array<std::string_view, 9> printedMarks = {";  ",
                                                          "# No stacktrace found",
                                                          "fx_pytree.tree_flatten_spec",
                                                          "self._in_spec",
                                                          "# File: ",
                                                          ", code: ",
                                                          "args_iter = iter(args_list)",
                                                          "_tensor_constant0 = self._tensor_constant0",
                                                          "pytree.tree_unflatten("};
constexpr std::array<std::string_view, 9> printedClasses = {"GraphModule", "CompiledAutograd", "inner_f",
                                                            "FxModule",    "joint_fn",         "_lambda",
                                                            "lambda",      "GraphModuleImpl",  "fx_graph"};
constexpr std::array<std::string_view, 9> controlWords = {
    "if ", "for ", "while ", "with ", "try:", "else:", "assert ", "raise ", "del "};
/// Graphs return values, which other statements compute.
constexpr std::array<std::string_view, 6> operators = {" + ", " - ", " * ", " / ", " @ ", " ** "};
/// Calls that graphs write within the arguments of others.
constexpr std::array<std::string_view, 8> literalCalls = {"device", "slice",   "float",  "getattr",
                                                          "Size",   "complex", "pytree", "tree_unflatten"};

bool isNameCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Lines of Python without blank ones, comments and what is deeper than the statements of the method.
template <typename Take>
void forLines(std::string_view text, Take take) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = strippedLine(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && !line.starts_with('#')) take(line);
  }
}

bool hasFreedValues(std::string_view line) {
  const std::size_t at = line.find("; ");  // pages that fold blanks leave one of two
  return at != std::string_view::npos && line.find(" = None", at) != std::string_view::npos;
}

/// `x: "f32[2, 3]"`, also of subclasses and symbols.
bool hasAnnotation(std::string_view line) {
  const std::size_t at = line.find(": \"");
  if (at == std::string_view::npos) return false;
  const std::string_view inner = line.substr(at + 3, 60);
  return inner.find('[') != std::string_view::npos || inner.starts_with("Sym(");
}

/// Statements of the form "a = torch.ops.…" and others.
struct Counts {
  std::size_t statements = 0, ops = 0, others = 0;
};

bool isPrinted(const GraphTextPiece& piece) {
  if (std::ranges::find(printedClasses, piece.className) != printedClasses.end()) return true;
  bool marked = false;
  Counts counts;
  forLines(piece.text, [&](std::string_view line) {
    marked = marked || hasFreedValues(line) || hasAnnotation(line);
    const bool isOp = line.find(" = torch.ops.") != std::string_view::npos;
    counts.ops += isOp ? 1 : 0;
    counts.others += !isOp && line.find(" = ") != std::string_view::npos ? 1 : 0;
  });
  const auto has = [&](std::string_view mark) { return piece.text.find(mark) != std::string::npos; };
  return marked || (counts.ops >= 2 && counts.ops >= counts.others) ||
         std::ranges::any_of(std::span(printedMarks).subspan(1), has);
}

/// Calls in a line that are no literals.
std::size_t callsIn(std::string_view line) {
  std::size_t calls = 0;
  for (std::size_t at = line.find('('); at != std::string_view::npos; at = line.find('(', at + 1)) {
    std::size_t begin = at;
    while (begin > 0 && isNameCharacter(line[begin - 1])) --begin;
    const std::string_view name = line.substr(begin, at - begin);
    if (!name.empty() && std::ranges::find(literalCalls, name) == literalCalls.end()) ++calls;
  }
  return calls;
}

/// Reads the forward method for what no printer writes.
class SourceSigns {
 public:
  void line(std::string_view line) {
    const bool isClass = line.starts_with("class ");
    if (isClass || line.starts_with("def ")) m_isForward = line.starts_with("def forward(");
    if (m_isForward && line.starts_with("def ")) return parameters(line);
    if (!m_isForward) return;
    const bool controls = std::ranges::any_of(controlWords, [&](auto word) { return line.starts_with(word); });
    const bool documents = line.starts_with("\"\"\"") || line.starts_with("r\"\"\"");
    const bool returns = line.starts_with("return ");
    const auto has = [&](std::string_view sign) { return line.find(sign) != std::string_view::npos; };
    const bool computes = returns && std::ranges::any_of(operators, has);
    m_found = m_found || controls || documents || computes || has("(**") || callsIn(line) > (returns ? 0U : 1U);
    assigned(line);
  }
  bool found() const { return m_found; }

 private:
  void parameters(std::string_view line) {
    m_assigned.clear();
    for (std::size_t at = line.find('('); at < line.size();) {
      std::size_t end = ++at;
      while (end < line.size() && (isNameCharacter(line[end]) || line[end] == ' ')) ++end;
      m_assigned.insert(std::string(strippedLine(line.substr(at, end - at))));
      at = std::min(line.find(',', end), line.size());
    }
  }

  void assigned(std::string_view line) {
    const std::size_t equals = line.find(" = ");
    if (equals == std::string_view::npos || line.substr(equals).starts_with(" = None")) return;
    const std::string_view name = line.substr(0, std::min(line.find(':'), equals));
    const bool isName = std::ranges::all_of(name, isNameCharacter);
    if (isName && name != "self" && !m_assigned.insert(std::string(name)).second) m_found = true;
  }

  std::set<std::string> m_assigned;
  bool m_found = false, m_isForward = false;
};

bool isOtherBase(const GraphTextPiece& piece) {
  if (piece.className.empty()) return false;
  const std::string_view head = std::string_view(piece.text).substr(0, piece.text.find('\n'));
  return head.find("(torch.nn.Module)") == std::string_view::npos;
}

}  // namespace

CodeKind codeKind(const GraphTextPiece& piece) {
  if (piece.form != GraphTextPiece::Form::Readable) return CodeKind::Printed;
  if (piece.text.find("def forward(ctx") != std::string::npos) return CodeKind::Model;  // of an autograd.Function
  if (isPrinted(piece)) return CodeKind::Printed;
  const bool isRepro = piece.className == "Repro";  // users, too, call their models so
  if (isOtherBase(piece) || (!isRepro && piece.text.find("def __init__(") != std::string::npos)) return CodeKind::Model;
  SourceSigns signs;
  forLines(piece.text, [&](std::string_view line) { signs.line(line); });
  if (signs.found()) return CodeKind::Model;
  return isRepro ? CodeKind::Printed : CodeKind::Plain;
}

}  // namespace kerf::inline capture
