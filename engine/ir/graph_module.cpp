#include "engine/ir/graph_module.h"

#include "engine/ir/argument_hash.h"

namespace kerf::inline ir {
namespace {

void hashTensor(HashBuffer& buffer, const TensorAttribute& attribute) {
  buffer.number(attribute.isParameter ? 1 : 0);
  if (!attribute.tensor.defined()) return buffer.text(attribute.text);
  const Tensor& tensor = attribute.tensor;
  buffer.number(std::uint64_t(tensor.dtype()));
  for (const Sizes& part : {tensor.sizes(), tensor.strides()}) {
    buffer.number(part.size());
    for (const std::int64_t value : part) buffer.number(std::uint64_t(value));
  }
  const auto contiguous = tensor.contiguous();
  if (!contiguous) return;
  const auto* bytes =
      contiguous->data<char>() - contiguous->offset() + contiguous->offset() * itemSize(contiguous->dtype());
  const Hash128 content = hashText({bytes, std::size_t(contiguous->byteSize())});
  buffer.number(content.high);
  buffer.number(content.low);
}

void hashRange(HashBuffer& buffer, const SymbolRange& range) {
  buffer.text(range.name);
  for (const auto& end : {range.lower, range.upper}) {
    buffer.number(end ? 1 : 0);
    buffer.number(std::uint64_t(end.value_or(0)));
  }
  buffer.text(range.source);
}

}  // namespace

Hash128 GraphModule::contentHash() const {
  HashBuffer buffer;
  const auto add = [&](const Hash128& hash) {
    buffer.number(hash.high);
    buffer.number(hash.low);
  };
  add(graph.contentHash());
  buffer.number(attributes.size());
  for (const auto& [path, attribute] : attributes) {
    buffer.text(path);
    hashTensor(buffer, attribute);
  }
  buffer.number(submodules.size());
  for (const auto& [path, module] : submodules) {
    buffer.text(path);
    if (module.graph)
      add(module.graph->contentHash());
    else
      buffer.text(module.repr);
  }
  for (const SymbolRange& range : symbolRanges) hashRange(buffer, range);
  return buffer.hash();
}

}  // namespace kerf::inline ir
