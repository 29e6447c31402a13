#include "tests/differential/wrongcalls/call_case.h"

#include <cstring>
#include <map>

#include <fmt/ranges.h>
#include <sys/mman.h>

#include "engine/ir/value_meta.h"

namespace kerf::wrongcalls {
namespace {

struct GraphWriter {
  CaseGraph graph;
  Surroundings surroundings;

  NodeId input(const Tensor& tensor) {
    const NodeId id = graph.module.graph.placeholder(fmt::format("arg{}_1", graph.inputs.size()));
    graph.module.graph.setValueMeta(id, {metaOf(tensor)});
    graph.inputs.emplace_back(tensor);
    return id;
  }

  /// Placeholders first, since a graph has them in front.
  void placeInputs(const Value& value, std::vector<NodeId>& nodes) {
    if (value.isTensor()) nodes.push_back(input(value.tensor()));
    if (value.isList())
      for (const Value& item : value.list()) placeInputs(item, nodes);
  }

  NodeId used(NodeId input) {
    if (surroundings == Surroundings::Alone) return input;
    return graph.module.graph.callFunction("torch.ops.aten.clone.default", {Argument(input)}, {}, "clone");
  }

  Argument argument(const Value& value, std::vector<NodeId>::const_iterator& next) {
    if (value.isTensor()) return *next++;
    if (value.isList()) {
      ArgumentList items;
      for (const Value& item : value.list()) items.push_back(argument(item, next));
      return Argument::list(std::move(items));
    }
    return std::visit(
        []<class T>(const T& held) -> Argument {
          if constexpr (std::is_constructible_v<Argument, T> && !std::is_same_v<T, std::monostate>)
            return Argument(held);
          else
            return {};
        },
        value.variant());
  }

  Argument output(const CallCase& call, NodeId node) {
    const bool isTensor = call.op->schema.returns.size() == 1 && call.op->schema.returns[0].starts_with("Tensor") &&
                          !call.op->schema.returns[0].ends_with(']');
    if (surroundings == Surroundings::Alone || !isTensor) return Argument::tuple({Argument(node)});
    Graph& g = graph.module.graph;
    const NodeId more = g.callFunction("torch.ops.aten.mul.Tensor", {Argument(node), Argument(2)}, {}, "mul");
    return Argument::tuple({Argument(node), Argument(more)});
  }
};

/// A block whose last byte is followed by a page that cannot be touched.
std::shared_ptr<Storage> guardedStorage(const Storage& source) {
  constexpr std::size_t page = 4096, alignment = 16;
  const auto bytes = std::size_t(source.bytes());
  const std::size_t whole = (bytes + alignment - 1) / alignment * alignment;
  const std::size_t pages = std::max<std::size_t>((whole + page - 1) / page, 1), length = (pages + 2) * page;
  void* const block = mmap(nullptr, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (block == MAP_FAILED) throw std::bad_alloc();
  auto* const first = static_cast<std::byte*>(block) + page;
  mprotect(first, pages * page, PROT_READ | PROT_WRITE);
  std::byte* const data = first + pages * page - whole;
  if (bytes > 0) std::memcpy(data, source.data(), bytes);
  return Storage::borrow(data, std::int64_t(bytes), std::shared_ptr<const void>(block, [length](const void* b) {
                           munmap(const_cast<void*>(b), length);
                         }));
}

using StorageMap = std::map<const Storage*, std::shared_ptr<Storage>>;

Value guardedCopy(const Value& value, StorageMap& copies) {
  if (value.isList()) {
    ValueList items;
    for (const Value& item : value.list()) items.push_back(guardedCopy(item, copies));
    return Value(std::move(items));
  }
  if (!value.isTensor()) return value;
  const Tensor& t = value.tensor();
  auto& storage = copies[t.storage().get()];
  if (!storage) storage = guardedStorage(*t.storage());
  return Value(Tensor(storage, t.dtype(), t.symSizes(), t.symStrides(), t.symOffset()));
}

std::string textOfTensor(const Tensor& t) {
  std::string text = fmt::format("{}[{}]", dtypeInfo(t.dtype()).shortCode, fmt::join(t.sizes(), ", "));
  if (!t.isContiguous() || t.offset() != 0)
    text += fmt::format(" strides [{}] + {}", fmt::join(t.strides(), ", "), t.offset());
  if (t.numel() > 0 && t.numel() <= 4 && !isComplex(t.dtype())) {
    text += " {";
    for (std::int64_t i = 0; i < t.numel(); ++i) text += fmt::format("{}{}", i ? ", " : "", t.itemAsDouble(i));
    text += "}";
  }
  return text;
}

std::string textOfValue(const Value& value) {
  if (value.isTensor()) return textOfTensor(value.tensor());
  if (value.isList()) {
    std::string text = "[";
    for (const Value& item : value.list()) text += (text.size() > 1 ? ", " : "") + textOfValue(item);
    return text + "]";
  }
  if (const auto* flag = value.as<bool>()) return *flag ? "True" : "False";
  if (const auto* number = value.as<std::int64_t>()) return fmt::to_string(*number);
  if (const auto* number = value.as<double>()) return fmt::to_string(*number);
  if (const auto* text = value.as<std::string>()) return "'" + *text + "'";
  if (const auto* dtype = value.as<DType>()) return std::string(dtypeInfo(*dtype).torchName);
  return value.isNone() ? "None" : "…";
}

}  // namespace

CaseGraph graphOf(const CallCase& call, Surroundings surroundings, Annotation annotation) {
  GraphWriter writer{{}, surroundings};
  std::vector<NodeId> nodes;
  for (const Value& value : call.args) writer.placeInputs(value, nodes);
  for (const auto& [name, value] : call.kwargs) writer.placeInputs(value, nodes);
  for (NodeId& node : nodes) node = writer.used(node);
  auto next = nodes.cbegin();
  ArgumentList args;
  KeywordArguments kwargs;
  for (const Value& value : call.args) args.push_back(writer.argument(value, next));
  for (const auto& [name, value] : call.kwargs) kwargs.emplace_back(name, writer.argument(value, next));
  Graph& graph = writer.graph.module.graph;
  const NodeId node = graph.callFunction(targetOf(*call.op), std::move(args), std::move(kwargs), "wrong");
  graph.output(writer.output(call, node));
  if (annotation == Annotation::Claimed) graph.setValueMeta(node, call.claimed);
  if (annotation == Annotation::Derived) (void)propagateShapes(writer.graph.module);  // up to what it refuses
  return std::move(writer.graph);
}

ValueList guardedCopies(const ValueList& values) {
  StorageMap copies;
  ValueList result;
  for (const Value& value : values) result.push_back(guardedCopy(value, copies));
  return result;
}

std::string textOf(const CallCase& call) {
  std::vector<std::string> items;
  for (const Value& value : call.args) items.push_back(textOfValue(value));
  for (const auto& [name, value] : call.kwargs) items.push_back(fmt::format("{} = {}", name, textOfValue(value)));
  return fmt::format("{}({})  # {}", call.op->schema.qualifiedName(), fmt::join(items, ", "),
                     call.wrongs.empty() ? "as it should be" : fmt::format("{}", fmt::join(call.wrongs, "; ")));
}

std::string targetOf(const OpInfo& op) {
  const std::string name = op.schema.qualifiedName();
  const bool isPython = name.starts_with("operator.") || name.starts_with("math.") || name.starts_with("builtins.") ||
                        name.find('.') == std::string::npos || name.starts_with("torch.");
  return isPython ? name : "torch.ops." + name;
}

}  // namespace kerf::wrongcalls
