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

  Result<void> add(const std::string& name, const Value& value) {
    const auto found = m_known.find(name);
    const GraphInput* before = found == m_known.end() ? nullptr : found->second;
    GraphInput input;
    input.name = name;
    if (value.isTensor())
      addTensor(value.tensor(), before, input);
    else if (const auto* number = value.as<std::int64_t>())
      addSymInt(*number, before, input);
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

  void addTensor(const Tensor& tensor, const GraphInput* before, GraphInput& input) {
    input.kind = GraphInput::Kind::Tensor;
    input.storageIndex = storageOf(tensor);
    input.dtype = tensor.dtype();
    input.sizes = tensor.sizes();
    input.strides = tensor.strides();
    input.storageOffset = tensor.offset();
    input.device = tensor.device();
    input.requiresGrad = tensor.requiresGrad;
    input.isLeaf = tensor.isLeaf || !tensor.requiresGrad;  // torch: what needs no gradient is a leaf, and it checks
    if (before == nullptr || before->kind != GraphInput::Kind::Tensor) return;
    input.extra = before->extra;
    input.comment = before->comment;
    if (before->sizes == input.sizes) input.sizeTexts = before->sizeTexts;
    if (before->strides == input.strides) input.strideTexts = before->strideTexts;
    if (before->storageOffset == input.storageOffset) input.offsetText = before->offsetText;
  }

  static void addSymInt(std::int64_t number, const GraphInput* before, GraphInput& input) {
    input.kind = GraphInput::Kind::SymInt;
    if (before != nullptr && before->kind == GraphInput::Kind::SymInt && before->sym.hint == number) input = *before;
    input.sym.hint = number;
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
    KERF_CHECK(maker.add(module.graph.node(placeholders[i]).target(), inputs[i]));
  CapturedGraph graph = maker.take();
  graph.module = module;
  if (like != nullptr) {
    graph.name = like->name;
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
