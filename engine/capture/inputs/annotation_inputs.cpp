#include "engine/capture/inputs/annotation_inputs.h"

#include <algorithm>

#include "engine/capture/common/call_syntax.h"
#include "engine/capture/common/source_text.h"
#include "engine/capture/common/view_extent.h"
#include "engine/capture/inputs/generated_inputs.h"
#include "engine/symbolic/symbolic.h"

namespace kerf::inline capture {
namespace {

constexpr std::int64_t untoldSymbol = 8;  ///< value of a symbol that no hint and no size tells

class InputMaker {
 public:
  explicit InputMaker(const GraphModule& module) : m_graph(module.graph) {
    for (const SymExpr& symbol : placeholderSymbols(module))
      m_out.symbols[symbol.text] = symbol.hint.value_or(untoldSymbol);
  }

  AnnotationInputs run() {
    for (const NodeId id : m_graph.placeholders()) m_out.inputs.push_back(input(m_graph.node(id)));
    return std::move(m_out);
  }

 private:
  GraphInput input(const Node& node) {
    GraphInput out;
    out.name = node.target();
    const auto* tensor = node.meta().value.tensor();
    const auto* symbol = node.meta().value.sym();
    const bool known = (tensor != nullptr && asTensor(*tensor, out)) || (symbol != nullptr && asSymbol(*symbol, out));
    if (known) return out;
    out = {};
    out.kind = GraphInput::Kind::Unsupported;
    out.name = node.target();
    out.text = pythonString(out.name);
    out.comment = "unsupported type for dumping: the graph's text does not say what it is";
    return out;
  }

  bool asSymbol(const SymMeta& symbol, GraphInput& out) const {
    out.kind = GraphInput::Kind::SymInt;
    const auto value = valueOf(symbol.expr);
    if (!value) return false;
    out.sym.hint = *value;
    const bool isNumber = symbol.expr.text.find_first_not_of("-0123456789") == std::string::npos;
    if (!isNumber) out.sym.text = symbol.expr.text;
    return true;
  }

  bool asTensor(const TensorMeta& meta, GraphInput& out) {
    out.dtype = meta.dtype;
    out.device = meta.device;
    out.storageOffset = meta.storageOffset;
    out.isLeaf = true;
    if (!dims(meta.sizes, out.sizes, out.sizeTexts) || !checkedNumel(out.sizes)) return false;
    if (meta.strides.size() == meta.sizes.size() && !meta.strides.empty()) {
      if (!dims(meta.strides, out.strides, out.strideTexts)) return false;
      out.explicitStrides = !out.strideTexts.empty() || !out.sizeTexts.empty();
    } else {
      out.strides = contiguousStrides(out.sizes);
      if (!out.sizeTexts.empty()) out.strideTexts = contiguousTexts(out.sizes, out.sizeTexts);
    }
    return addStorage(out);
  }

  bool addStorage(GraphInput& out) {
    const auto bytes = viewBytes(out, ImportLimits{});
    if (!bytes) return false;
    StorageRef storage;
    storage.bytes = *bytes;
    storage.bytesText = bytesText(out, *bytes);
    storage.device = out.device;
    if (out.dtype != DType::Float32) storage.dtypeHint = out.dtype;
    out.storageIndex = int(m_out.storages.size());
    m_out.storages.push_back(std::move(storage));
    return true;
  }

  /// "64*s0": the bytes up to the last element, where a size or stride is symbolic.
  std::string bytesText(const GraphInput& input, std::int64_t bytes) const {
    if (input.sizeTexts.empty()) return {};
    Symbolic last = Symbolic::integer(input.storageOffset + 1);
    for (std::size_t i = 0; i < input.sizes.size(); ++i) {
      const auto size = Symbolic::parse(input.sizeTexts[i]);
      const auto stride =
          Symbolic::parse(input.strideTexts.empty() ? std::to_string(input.strides[i]) : input.strideTexts[i]);
      if (!size || !stride || input.sizes[i] == 0) return {};
      last = last + (*size - Symbolic::integer(1)) * *stride;
    }
    const std::string text = asPython((last * Symbolic::integer(itemSize(input.dtype))).expanded().text());
    return loaderReads(text, bytes) ? text : std::string();
  }

  /// Values and, if one of them is symbolic, the texts of all.
  bool dims(const std::vector<Dim>& dims, Sizes& values, std::vector<std::string>& texts) const {
    bool symbolic = false;
    for (const Dim& dim : dims) {
      const auto value = valueOf(dim);
      if (!value || *value < 0) return false;
      values.push_back(*value);
      const std::string text = asPython(std::string(trimmed(dim.text)));
      const bool written = loaderReads(text, *value);
      symbolic = symbolic || written;
      texts.push_back(written ? text : std::to_string(*value));
    }
    if (!symbolic) texts.clear();
    return true;
  }

  std::optional<std::int64_t> valueOf(const SymExpr& expression) const {
    if (expression.text.empty()) return expression.hint;
    const auto value = evaluateSize(expression.text, m_out.symbols);
    if (value) return *value;
    return expression.hint;
  }

  /// "s0", "u12", "zuf3", "ps7": a line `s0 = 8` at a file's top must not hide a name that the file uses.
  static bool isSafeName(const std::string& name) {
    const std::size_t digits = name.find_first_of("0123456789");
    return digits != std::string::npos && digits > 0 && digits <= 3 && !name.starts_with("buf") &&
           name.find_first_not_of("0123456789", digits) == std::string::npos;
  }

  /// sympy's Max and Min as Python's own: a load_args that names the others does not run.
  static std::string asPython(std::string text) {
    for (const std::string_view name : {"Max(", "Min("})
      for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1))
        text[at] = char(std::tolower(name[0]));
    return text;
  }

  /// Whether a load_args line may hold the text: what else stands there is written as a number.
  bool loaderReads(const std::string& text, std::int64_t value) const {
    if (text.empty() || text.find_first_of("#\n\\") != std::string::npos) return false;
    const auto expression = parsePythonExpression(text);
    if (!expression || expression->kind == PythonKind::Integer || text.find("Mod(") != std::string::npos ||
        text.find("FloorDiv(") != std::string::npos)
      return false;
    std::set<std::string> names;
    collectSymbols(text, names);
    if (!std::ranges::all_of(names, isSafeName)) return false;
    Symbols own;  // those of the text alone: a graph may have very many
    for (const std::string& name : names)
      if (const auto known = m_out.symbols.find(name); known != m_out.symbols.end()) own.insert(*known);
    const auto read = evaluateInteger(*expression, own);
    return read && *read == value;
  }

  const Graph& m_graph;
  AnnotationInputs m_out;
};

}  // namespace

AnnotationInputs inputsFromAnnotations(const GraphModule& module) { return InputMaker(module).run(); }

CapturedGraph withInputs(const CapturedGraph& graph) {
  CapturedGraph out = graph;
  if (!graph.inputs.empty()) return out;
  AnnotationInputs made = inputsFromAnnotations(graph.module);
  out.inputs = std::move(made.inputs);
  out.storages = std::move(made.storages);
  return out;
}

}  // namespace kerf::inline capture
