#include "engine/capture/inputs/stand_in_attributes.h"

#include <algorithm>

#include "engine/capture/common/tensor_literal.h"
#include "engine/capture/inputs/generated_inputs.h"
#include "engine/capture/plausible/infer_needs.h"

namespace kerf::inline capture {
namespace {

constexpr std::int64_t standInBytes = 1LL << 30;  ///< of one attribute; larger ones stay without value
constexpr std::int64_t untoldSymbol = 8;
constexpr std::string_view unknownValue = "None  # the graph's text does not say what this is";

class StandIns {
 public:
  StandIns(const ImportLimits& limits, std::vector<std::string>* notes) : m_limits(limits), m_notes(notes) {
    m_limits.tensorBytes = std::min(m_limits.tensorBytes, standInBytes);
  }

  void add(GraphModule& module, int depth) {
    SymbolBindings symbols;
    for (const SymExpr& symbol : placeholderSymbols(module)) symbols[symbol.text] = symbol.hint.value_or(untoldSymbol);
    for (const NodeId id : module.graph.order()) {
      const Node& node = module.graph.node(id);
      if (node.op() == Opcode::GetAttr || node.op() == Opcode::CallModule) define(module, node, symbols);
    }
    for (auto& [path, submodule] : module.submodules.edit()) {
      if (!submodule.graph || depth >= 50) continue;
      GraphModule nested = *submodule.graph;
      add(nested, depth + 1);
      submodule.graph = std::make_shared<const GraphModule>(std::move(nested));
    }
  }

  void report() const {
    if (m_notes == nullptr) return;
    if (m_tensors > 0) m_notes->push_back(fmt::format("{} attributes have no data: random data is used", m_tensors));
    if (m_guards > 0)
      m_notes->push_back("the text does not say what _guards_fn asks of the inputs: it is asked nothing");
    if (m_unknown > 0)
      m_notes->push_back(fmt::format("{} attributes and modules are only mentioned: they have no value", m_unknown));
  }

 private:
  void define(GraphModule& module, const Node& node, const SymbolBindings& symbols) {
    const std::string& path = node.target();
    const std::string root = path.substr(0, path.find('.'));
    if (module.attribute(path) != nullptr || module.submodule(path) != nullptr || module.submodule(root) != nullptr)
      return;
    const auto* tensor = node.op() == Opcode::GetAttr ? node.meta().value.tensor() : nullptr;
    if (tensor != nullptr && root == path && addTensor(module, node.id(), *tensor, symbols)) {
      ++m_tensors;
      return;
    }
    if (isGuards(node)) {
      module.submodules.add(root, Submodule{noGuards(node.args().size()), "GuardsFn()"});
      ++m_guards;
      return;
    }
    module.submodules.add(root, Submodule{nullptr, std::string(unknownValue)});
    ++m_unknown;
  }

  /// torch.export asks the inputs' guards by a module of this name, and uses nothing that it returns.
  static bool isGuards(const Node& node) {
    return node.op() == Opcode::CallModule && node.target() == "_guards_fn" && node.users().empty() &&
           node.kwargs().empty();
  }

  /// The form that torch.export gives the module when it has checked all guards itself: () of any inputs.
  static std::shared_ptr<const GraphModule> noGuards(std::size_t inputs) {
    auto module = std::make_shared<GraphModule>();
    for (std::size_t i = 0; i < inputs; ++i) module->graph.placeholder(fmt::format("arg{}_1", i));
    module->graph.output(Argument(ListArgument{.isTuple = true}));
    return module;
  }

  /// What the line gives that makes the attribute: ones where the graph takes its root, logarithm or inverse.
  static std::string_view maker(const GraphModule& module, NodeId node, const TensorMeta& meta) {
    if (!isFloating(meta.dtype) && !isComplex(meta.dtype)) return "torch.randint(1, size=";
    return needOfNode(module, node).hard.lower > 0 ? "torch.ones(" : "torch.randn(";
  }

  bool addTensor(GraphModule& module, NodeId node, const TensorMeta& meta, const SymbolBindings& symbols) {
    const std::string path = module.graph.node(node).target();
    std::vector<std::string> sizes;
    for (const Dim& dim : meta.sizes) {
      const auto value = dim.hint ? Result<std::int64_t>(*dim.hint) : evaluateSize(dim.text, symbols);
      if (!value || *value < 0) return false;
      sizes.push_back(std::to_string(*value));
    }
    std::string text = fmt::format("{}[{}], dtype={})", maker(module, node, meta), fmt::join(sizes, ", "),
                                   dtypeInfo(meta.dtype).torchName);
    if (meta.device != Device{}) text += fmt::format(".to(\"{}\")", meta.device.text());
    const auto expression = parsePythonExpression(text);
    if (!expression) return false;
    auto source = readTensorSource(*expression, hashText(path).low, m_limits);
    if (!source) return false;
    m_limits.tensorBytes -= std::min(m_limits.tensorBytes, source->tensor.byteSize());
    module.attributes.add(path, TensorAttribute{std::move(source->tensor), false, std::move(text)});
    return true;
  }

  ImportLimits m_limits;
  std::vector<std::string>* m_notes;
  std::size_t m_tensors = 0, m_unknown = 0, m_guards = 0;
};

}  // namespace

void addStandInAttributes(GraphModule& module, const ImportLimits& limits, std::vector<std::string>* notes) {
  StandIns standIns(limits, notes);
  standIns.add(module, 0);
  standIns.report();
}

}  // namespace kerf::inline capture
