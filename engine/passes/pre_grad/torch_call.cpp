#include "engine/passes/pre_grad/torch_call.h"

#include <algorithm>
#include <map>

namespace kerf::inline passes {

namespace {

struct Spelling {
  std::string_view name;      ///< the function's one name
  std::string_view spelling;  ///< "method.x" for the tensor method x
  std::string_view schema;
};

#define KERF_CONV_PARAMETERS                                                                                        \
  "(Tensor input, Tensor weight, Tensor? bias=None, Any stride=1, Any padding=0, Any dilation=1, int groups=1) -> " \
  "Tensor"
#define KERF_ACTIVATION "(Tensor input, bool inplace=False) -> Tensor"

/// PyTorch's Python signatures. "Dims" is a list of ints that may be written as several arguments.
constexpr Spelling spellings[] = {
    {"torch.nn.functional.linear", "torch.nn.functional.linear",
     "linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor"},
    {"torch.nn.functional.linear", "torch._C._nn.linear",
     "linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor"},
    {"torch.conv1d", "torch.conv1d", "conv1d" KERF_CONV_PARAMETERS},
    {"torch.conv2d", "torch.conv2d", "conv2d" KERF_CONV_PARAMETERS},
    {"torch.conv3d", "torch.conv3d", "conv3d" KERF_CONV_PARAMETERS},
    {"torch.conv1d", "torch.nn.functional.conv1d", "conv1d" KERF_CONV_PARAMETERS},
    {"torch.conv2d", "torch.nn.functional.conv2d", "conv2d" KERF_CONV_PARAMETERS},
    {"torch.conv3d", "torch.nn.functional.conv3d", "conv3d" KERF_CONV_PARAMETERS},
    {"torch.nn.functional.batch_norm", "torch.nn.functional.batch_norm",
     "batch_norm(Tensor input, Tensor? running_mean, Tensor? running_var, Tensor? weight=None, Tensor? bias=None, "
     "bool training=False, float momentum=0.1, float eps=1e-05) -> Tensor"},
    {"torch.nn.functional.layer_norm", "torch.nn.functional.layer_norm",
     "layer_norm(Tensor input, Any normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05) -> "
     "Tensor"},
    {"torch.nn.functional.dropout", "torch.nn.functional.dropout",
     "dropout(Tensor input, float p=0.5, bool training=True, bool inplace=False) -> Tensor"},
    {"torch.nn.functional.relu", "torch.nn.functional.relu", "relu" KERF_ACTIVATION},
    {"torch.nn.functional.relu6", "torch.nn.functional.relu6", "relu6" KERF_ACTIVATION},
    {"torch.nn.functional.silu", "torch.nn.functional.silu", "silu" KERF_ACTIVATION},
    {"torch.nn.functional.mish", "torch.nn.functional.mish", "mish" KERF_ACTIVATION},
    {"torch.nn.functional.hardswish", "torch.nn.functional.hardswish", "hardswish" KERF_ACTIVATION},
    {"torch.nn.functional.hardsigmoid", "torch.nn.functional.hardsigmoid", "hardsigmoid" KERF_ACTIVATION},
    {"torch.matmul", "torch.matmul", "matmul(Tensor input, Tensor other) -> Tensor"},
    {"torch.matmul", "operator.matmul", "matmul(Tensor a, Tensor b) -> Tensor"},
    {"torch.matmul", "method.matmul", "matmul(Tensor self, Tensor other) -> Tensor"},
    {"torch.matmul", "method.__matmul__", "matmul(Tensor self, Tensor other) -> Tensor"},
    {"torch.bmm", "torch.bmm", "bmm(Tensor input, Tensor mat2) -> Tensor"},
    {"torch.bmm", "method.bmm", "bmm(Tensor self, Tensor mat2) -> Tensor"},
    {"torch.permute", "torch.permute", "permute(Tensor input, Dims dims) -> Tensor"},
    {"torch.permute", "method.permute", "permute(Tensor self, Dims dims) -> Tensor"},
    {"torch.transpose", "torch.transpose", "transpose(Tensor input, int dim0, int dim1) -> Tensor"},
    {"torch.transpose", "torch.swapaxes", "swapaxes(Tensor input, int axis0, int axis1) -> Tensor"},
    {"torch.transpose", "method.transpose", "transpose(Tensor self, int dim0, int dim1) -> Tensor"},
    {"torch.transpose", "method.swapaxes", "swapaxes(Tensor self, int axis0, int axis1) -> Tensor"},
    {"torch.unsqueeze", "torch.unsqueeze", "unsqueeze(Tensor input, int dim) -> Tensor"},
    {"torch.unsqueeze", "method.unsqueeze", "unsqueeze(Tensor self, int dim) -> Tensor"},
    {"torch.flatten", "torch.flatten", "flatten(Tensor input, int start_dim=0, int end_dim=-1) -> Tensor"},
    {"torch.flatten", "method.flatten", "flatten(Tensor self, int start_dim=0, int end_dim=-1) -> Tensor"},
    {"torch.cat", "torch.cat", "cat(Any tensors, int dim=0) -> Tensor"},
    {"torch.cat", "torch.concat", "concat(Any tensors, int dim=0) -> Tensor"},
    {"torch.cat", "torch.concatenate", "concatenate(Any tensors, int dim=0) -> Tensor"},
    {"torch.stack", "torch.stack", "stack(Any tensors, int dim=0) -> Tensor"},
    {"torch.split", "torch.split", "split(Tensor tensor, Any split_size_or_sections, int dim=0) -> Tensor[]"},
    {"torch.split", "torch.functional.split",
     "split(Tensor tensor, Any split_size_or_sections, int dim=0) -> Tensor[]"},
    {"torch.split", "method.split", "split(Tensor self, Any split_size, int dim=0) -> Tensor[]"},
    {"torch.chunk", "torch.chunk", "chunk(Tensor input, int chunks, int dim=0) -> Tensor[]"},
    {"torch.chunk", "method.chunk", "chunk(Tensor self, int chunks, int dim=0) -> Tensor[]"},
    {"torch.unbind", "torch.unbind", "unbind(Tensor input, int dim=0) -> Tensor[]"},
    {"torch.unbind", "method.unbind", "unbind(Tensor self, int dim=0) -> Tensor[]"},
};

#undef KERF_CONV_PARAMETERS
#undef KERF_ACTIVATION

const TorchFunction* findSpelling(const std::string& spelling) {
  static const auto table = [] {
    std::map<std::string_view, TorchFunction> rows;
    for (const Spelling& row : spellings)
      if (auto schema = parseSchema(row.schema))
        rows.emplace(row.spelling, TorchFunction{row.name, *std::move(schema)});
    return rows;
  }();
  const auto found = table.find(spelling);
  return found == table.end() ? nullptr : &found->second;
}

bool isSize(const Argument& argument) { return argument.as<std::int64_t>() || argument.as<NodeId>(); }

/// Positional arguments; for "Dims" those from there on as one list.
std::optional<ArgumentList> positional(const Node& node, const OpSchema& schema) {
  ArgumentList args = node.args();
  const bool isVariadic = !schema.arguments.empty() && schema.arguments.back().type == "Dims";
  const std::size_t first = schema.arguments.size() - 1;
  if (isVariadic && args.size() > first && !args[first].asList()) {
    ArgumentList dims(args.begin() + std::ptrdiff_t(first), args.end());
    if (!std::ranges::all_of(dims, isSize)) return std::nullopt;
    args.resize(first);
    args.push_back(Argument::list(std::move(dims)));
  }
  return args.size() > schema.arguments.size() ? std::nullopt : std::optional(std::move(args));
}

std::optional<std::vector<Argument>> bound(const Node& node, const OpSchema& schema) {
  auto args = positional(node, schema);
  if (!args) return std::nullopt;
  const std::size_t given = args->size();
  std::size_t named = 0;
  for (std::size_t i = given; i < schema.arguments.size(); ++i) {
    const SchemaArgument& parameter = schema.arguments[i];
    const auto keyword =
        std::ranges::find(node.kwargs(), parameter.name, [](const auto& entry) { return entry.first; });
    if (keyword != node.kwargs().end()) ++named;
    if (keyword == node.kwargs().end() && !parameter.defaultValue) return std::nullopt;
    args->push_back(keyword != node.kwargs().end() ? keyword->second : *parameter.defaultValue);
  }
  return named == node.kwargs().size() ? args : std::nullopt;
}

template <class T>
std::optional<std::vector<T>> itemsOf(const Argument& argument) {
  const ListArgument* list = argument.asList();
  if (!list) return std::nullopt;
  std::vector<T> items;
  for (const Argument& item : list->items) {
    const T* value = item.as<T>();
    if (!value) return std::nullopt;
    items.push_back(*value);
  }
  return items;
}

/// The parameter that says whether a call writes into its input.
std::optional<std::size_t> inplaceOf(const OpSchema& schema) {
  const auto found = std::ranges::find(schema.arguments, "inplace", &SchemaArgument::name);
  return found == schema.arguments.end() ? std::nullopt : std::optional(std::size_t(found - schema.arguments.begin()));
}

}  // namespace

const Argument& TorchCall::operator[](std::size_t i) const {
  static const Argument none;
  return i < arguments.size() ? arguments[i] : none;
}

std::optional<NodeId> TorchCall::node(std::size_t i) const {
  const NodeId* id = (*this)[i].as<NodeId>();
  return id ? std::optional(*id) : std::nullopt;
}

std::optional<std::int64_t> TorchCall::integer(std::size_t i) const {
  const auto* value = (*this)[i].as<std::int64_t>();
  return value ? std::optional(*value) : std::nullopt;
}

bool TorchCall::flag(std::size_t i) const {
  const auto* value = (*this)[i].as<bool>();
  return value && *value;
}

std::optional<std::vector<NodeId>> TorchCall::nodes(std::size_t i) const { return itemsOf<NodeId>((*this)[i]); }

std::optional<std::vector<std::int64_t>> TorchCall::integers(std::size_t i) const {
  return itemsOf<std::int64_t>((*this)[i]);
}

std::optional<TorchCall> torchCall(const Node& node) {
  if (node.op() != Opcode::CallFunction && node.op() != Opcode::CallMethod) return std::nullopt;
  if (node.target().starts_with("torch.ops.")) return std::nullopt;
  const bool isMethod = node.op() == Opcode::CallMethod;
  const TorchFunction* function = findSpelling(isMethod ? "method." + node.target() : node.target());
  auto arguments = function ? bound(node, function->schema) : std::nullopt;
  if (!arguments) return std::nullopt;
  return TorchCall{function, *std::move(arguments)};
}

std::optional<TorchCall> torchCall(const Node& node, std::string_view name) {
  auto call = torchCall(node);
  return call && call->is(name) ? std::move(call) : std::nullopt;
}

bool isPureTorchCall(const Node& node) {
  const auto call = torchCall(node);
  if (!call) return false;
  if (const auto inplace = inplaceOf(call->function->schema); inplace && call->flag(*inplace)) return false;
  const bool trains = (call->is("torch.nn.functional.dropout") && call->flag(2)) ||
                      (call->is("torch.nn.functional.batch_norm") && call->flag(5));
  return !trains;
}

std::pair<ArgumentList, KeywordArguments> shortest(const TorchCall& call) {
  const auto& parameters = call.function->schema.arguments;
  const auto isDefault = [&](std::size_t i) {
    return parameters[i].defaultValue && *parameters[i].defaultValue == call.arguments[i];
  };
  KeywordArguments kwargs;
  std::size_t count = call.arguments.size();
  if (const auto inplace = inplaceOf(call.function->schema)) {  // the last one
    if (!isDefault(*inplace)) kwargs.emplace_back("inplace", call.arguments[*inplace]);
    count = *inplace;
  }
  while (count > 0 && isDefault(count - 1)) --count;
  return {ArgumentList(call.arguments.begin(), call.arguments.begin() + std::ptrdiff_t(count)), std::move(kwargs)};
}

}  // namespace kerf::inline passes
