// makeCapturedGraph: a module and runtime values to load_args terms.
#include <unordered_map>

#include "engine/capture/repro/writer.h"

namespace kerf::inline capture {
namespace {

class GraphMaker {
 public:
  explicit GraphMaker(const CapturedGraph* like) {
    if (like == nullptr) return;
    for (const GraphInput& input : like->inputs) m_known.emplace(input.name, &input);
  }

  /// `meta` is the placeholder's: where it says what the value is, its symbols are the input's.
  Result<void> add(const std::string& name, const Value& value, const ValueMeta& meta) {
    const auto found = m_known.find(name);
    const GraphInput* before = found == m_known.end() ? nullptr : found->second;
    GraphInput input;
    input.name = name;
    if (value.isTensor())
      addTensor(value.tensor(), before, meta.tensor(), input);
    else if (const auto* number = value.as<std::int64_t>())
      addSymInt(*number, before, meta.sym(), input);
    else if (value.isNone())
      addNone(before, input);
    else
      return fail(ErrorCode::BadInput, "load_args has no line for the value of the input '{}'", name);
    m_graph.inputs.push_back(std::move(input));
    return {};
  }

  CapturedGraph take() { return std::move(m_graph); }

 private:
  int storageOf(const Tensor& tensor) {
    const auto [slot, fresh] = m_storages.try_emplace(tensor.storage().get(), int(m_graph.storages.size()));
    if (fresh) {
      StorageRef reference;
      reference.data = tensor.storage();
      reference.bytes = tensor.storage()->bytes();
      reference.hash = sha1Hex(tensor.storage()->view());
      reference.device = tensor.device();
      if (tensor.dtype() != DType::Float32) reference.dtypeHint = tensor.dtype();
      m_graph.storages.push_back(std::move(reference));
    }
    return slot->second;
  }

  /// Texts of the numbers where they are what the annotation says and some are symbolic.
  static std::vector<std::string> textsOf(const std::vector<Dim>& dims, const Sizes& values) {
    std::vector<std::string> texts;
    bool symbolic = false;
    if (dims.size() != values.size()) return texts;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (dims[i].hint != values[i]) return {};
      const bool isNumber = dims[i].text.find_first_not_of("-0123456789") == std::string::npos;
      symbolic = symbolic || !isNumber;
      texts.push_back(isNumber ? std::to_string(values[i]) : dims[i].text);
    }
    if (!symbolic) texts.clear();
    return texts;
  }

  void addTensor(const Tensor& tensor, const GraphInput* before, const TensorMeta* meta, GraphInput& input) {
    input.kind = GraphInput::Kind::Tensor;
    input.storageIndex = storageOf(tensor);
    input.dtype = tensor.dtype();
    input.sizes = tensor.sizes();
    input.strides = tensor.strides();
    input.storageOffset = tensor.offset();
    input.device = tensor.device();
    input.requiresGrad = tensor.requiresGrad;
    input.isLeaf = tensor.isLeaf || !tensor.requiresGrad;  // torch: what needs no gradient is a leaf, and it checks
    if (meta != nullptr) {
      input.sizeTexts = textsOf(meta->sizes, input.sizes);
      if (!input.sizeTexts.empty()) input.strideTexts = textsOf(meta->strides, input.strides);
    }
    if (before == nullptr || before->kind != GraphInput::Kind::Tensor) return;
    input.extra = before->extra;
    input.comment = before->comment;
    if (meta == nullptr && before->sizes == input.sizes) input.sizeTexts = before->sizeTexts;
    if (meta == nullptr && before->strides == input.strides) input.strideTexts = before->strideTexts;
    if (before->storageOffset == input.storageOffset) input.offsetText = before->offsetText;
  }

  static void addSymInt(std::int64_t number, const GraphInput* before, const SymMeta* meta, GraphInput& input) {
    input.kind = GraphInput::Kind::SymInt;
    if (before != nullptr && before->kind == GraphInput::Kind::SymInt && before->sym.hint == number) input = *before;
    input.sym.hint = number;
    if (meta == nullptr || input.hasExprKeyword) return;
    const bool isNumber = meta->expr.text.find_first_not_of("-0123456789") == std::string::npos;
    input.sym.text = meta->expr.hint == number && !isNumber ? meta->expr.text : std::string();
  }

  static void addNone(const GraphInput* before, GraphInput& input) {
    input.kind = GraphInput::Kind::Const;
    input.text = pythonString(input.name);
    input.comment = input.name + ", filtered out during compilation";
    if (before != nullptr && before->kind != GraphInput::Kind::Tensor && before->kind != GraphInput::Kind::SymInt)
      input = *before;
  }

  std::unordered_map<std::string_view, const GraphInput*> m_known;
  std::unordered_map<const Storage*, int> m_storages;
  CapturedGraph m_graph;
};

}  // namespace

Result<CapturedGraph> makeCapturedGraph(const GraphModule& module, const ValueList& inputs, const CapturedGraph* like) {
  const std::vector<NodeId> placeholders = module.graph.placeholders();
  if (placeholders.size() != inputs.size())
    return fail(ErrorCode::BadInput, "the graph takes {} inputs, {} were given", placeholders.size(), inputs.size());
  GraphMaker maker(like);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    KERF_CHECK(maker.add(module.graph.node(placeholders[i]).target(), inputs[i],
                         module.graph.node(placeholders[i]).meta().value));
  CapturedGraph graph = maker.take();
  graph.module = module;
  if (like != nullptr) {
    graph.name = like->name;
    graph.origin = like->origin;
    graph.storageDirectory = like->storageDirectory;
    graph.envelope = like->envelope;
    graph.module.className = like->module.className;
  } else {
    graph.name = "forward";
    graph.module.className = "Repro";
  }
  return graph;
}

}  // namespace kerf::inline capture
