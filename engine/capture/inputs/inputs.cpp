// CapturedGraph: placeholder metadata and identity.
#include <unordered_map>

#include "engine/capture/common/capture.h"
#include "engine/capture/inputs/annotation_inputs.h"
#include "engine/capture/inputs/input_loader.h"
#include "engine/ops/core/op_registry.h"
#include "engine/support/hash.h"
#include "engine/symbolic/shape_env.h"
#include "engine/tensor/mapped_file.h"

namespace kerf::inline capture {
namespace {

bool isNumber(std::string_view text) { return text.find_first_not_of("0123456789") == std::string_view::npos; }

std::vector<Dim> dimsOf(const Sizes& values, const std::vector<std::string>& texts) {
  std::vector<Dim> dims;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool symbolic = i < texts.size() && !isNumber(texts[i]);
    dims.push_back({symbolic ? texts[i] : std::string(), values[i]});
  }
  return dims;
}

ValueMeta metaOf(const GraphInput& input) {
  if (input.kind == GraphInput::Kind::SymInt) return {SymMeta{input.sym}};
  if (input.kind != GraphInput::Kind::Tensor) return {};
  TensorMeta meta;
  meta.dtype = input.dtype;
  meta.sizes = dimsOf(input.sizes, input.sizeTexts);
  meta.strides = dimsOf(input.strides, input.strideTexts);
  meta.storageOffset = input.storageOffset;
  meta.device = input.device;
  meta.requiresGrad = input.requiresGrad;
  return {std::move(meta)};
}

void describe(std::string& text, const GraphInput& input) {
  text += fmt::format("input {} {} {} {} [{}] [{}] {} {} {} {}|", int(input.kind), input.name, input.storageIndex,
                      dtypeInfo(input.dtype).torchName, fmt::join(input.sizes, ","), fmt::join(input.strides, ","),
                      input.storageOffset, input.device.text(), input.requiresGrad, input.isLeaf);
  text += fmt::format("[{}] [{}] {}|", fmt::join(input.sizeTexts, ","), fmt::join(input.strideTexts, ","),
                      input.offsetText);
  for (const auto& [key, value] : input.extra) text += key + "=" + value + ",";
  text += fmt::format("{} {}|{}\n", input.sym.text, input.sym.hint.value_or(-1), input.text);
}

/// The content-store name, so that a graph from an archive and the repro written from it are equal. Bytes too many to
/// read for a hash have none: their checksum stands in.
std::string nameOf(const StorageRef& storage) {
  constexpr std::int64_t readable = 64LL << 20;
  if (!storage.hash.empty() || !storage.file) return storage.hash;
  if (storage.file->length <= readable) {
    const auto bytes = mapFileRange(storage.file->path, storage.file->offset, storage.file->length);
    if (bytes) return sha1Hex((*bytes)->view());
  }
  return storage.crc32 ? fmt::format("crc32 {}", *storage.crc32) : std::string();
}

void describe(std::string& text, const StorageRef& storage) {
  const std::string hint(storage.dtypeHint ? dtypeInfo(*storage.dtypeHint).torchName : "");
  text += fmt::format("storage {} {} {} {} {}\n", nameOf(storage), storage.bytes, storage.bytesText,
                      storage.device.text(), hint);
}

/// Ranges go too: a repro has no place for them, and is the same graph.
GraphModule withoutValueMetas(GraphModule module) {
  module.symbolRanges.clear();
  const std::vector<NodeId> order(module.graph.order().begin(), module.graph.order().end());
  for (const NodeId id : order)
    if (module.graph.node(id).meta().value.known()) module.graph.setValueMeta(id, {});
  for (auto& [path, submodule] : module.submodules.edit())
    if (submodule.graph) submodule.graph = std::make_shared<const GraphModule>(withoutValueMetas(*submodule.graph));
  return module;
}

}  // namespace

Result<void> CapturedGraph::annotateInputs() {
  const std::vector<NodeId> placeholders = module.graph.placeholders();
  if (inputs.empty()) return {};  // from text: the placeholders' annotations say it all
  if (placeholders.size() != inputs.size())
    return fail(ErrorCode::BadInput, "the graph takes {} inputs, the capture has {}", placeholders.size(),
                inputs.size());
  const auto recorded = recordedSymbols(*this);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    ValueMeta meta = metaOf(inputs[i]);
    auto* sym = std::get_if<SymMeta>(&meta.value);
    if (sym && recorded && sym->expr.hint && isNumber(sym->expr.text)) {
      const std::string name = symbolOfNumber(*recorded, *sym->expr.hint);
      if (!name.empty()) sym->expr.text = name;
    }
    module.graph.setValueMeta(placeholders[i], std::move(meta));
  }
  return {};
}

Result<void> CapturedGraph::annotateShapes() {
  ShapeEnv env;
  return annotateShapes(env);
}

Result<void> CapturedGraph::annotateShapes(ShapeEnv& env) {
  KERF_CHECK(annotateInputs());
  return propagateShapes(module, env);
}

Hash128 CapturedGraph::contentHash() const {
  if (inputs.empty() && !module.graph.placeholders().empty()) return withInputs(*this).contentHash();
  // The graph without derived metadata: annotating shapes must not change what a capture is.
  std::string text = "graph " + withoutValueMetas(module).contentHash().hex() + "\n";
  // Storages count by the order in which inputs first use them: which numbers a file gives them, and storages that
  // nothing uses, are no part of graph and inputs.
  std::unordered_map<int, int> numbers;
  for (GraphInput input : inputs) {
    if (input.storageIndex >= 0) {
      const auto [known, isNew] = numbers.emplace(input.storageIndex, int(numbers.size()));
      if (isNew) describe(text, storages[std::size_t(input.storageIndex)]);
      input.storageIndex = known->second;
    }
    describe(text, input);
  }
  return hashText(text);
}

}  // namespace kerf::inline capture
