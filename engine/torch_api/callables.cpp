#include "engine/torch_api/callables.h"

#include <algorithm>
#include <array>

#include "engine/autograd/tape.h"
#include "engine/ops/core/autocast.h"
#include "engine/ops/core/calls_without_row.h"
#include "engine/ops/core/memory_use.h"
#include "engine/ops/core/symbolic_numbers.h"
#include "engine/ops/python/python_level.h"
#include "engine/torch_api/builtin_type.h"
#include "engine/torch_api/eager_ops.h"
#include "engine/torch_api/names_of_ops.h"
#include "engine/torch_api/variable.h"

namespace kerf::inline torch_api {
namespace {

bool anyRequiresGrad(const Value& value) {
  if (value.isTensor()) return value.tensor().requiresGrad;
  return value.isList() && std::ranges::any_of(value.list(), anyRequiresGrad);
}

Value withGrad(const Value& value, bool requiresGrad) {
  if (value.isTensor()) {
    Tensor tensor = value.tensor();
    tensor.requiresGrad = requiresGrad && mayHaveGradient(value);
    tensor.isLeaf = !tensor.requiresGrad;
    return tensor;
  }
  if (!value.isList()) return value;
  ValueList items;
  for (const Value& item : value.list()) items.push_back(withGrad(item, requiresGrad));
  return items;
}

/// Shapes, and which results would require a gradient.
class FakeOps : public OpCaller {
 public:
  Result<Value> call(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs) const override {
    // abs() of a number is no tensor, though the operator of that name makes one.
    if (holdsSymbolic(args))
      if (auto number = callOnSymbols(target, args, kwargs)) return std::move(*number);
    const OpInfo* op = findOp(target);
    if (op == nullptr && callsWithoutRow().isPython(target.text))
      return callsWithoutRow().python(target.text, args, kwargs, *this);
    const bool onTensors = std::ranges::any_of(args, [](const Value& value) { return value.isTensor(); });
    if (op != nullptr && onTensors && target.text.starts_with("operator.")) {
      const std::string tensors = tensorOperator(target.text);
      return tensors.empty() ? callsWithoutRow().python(target.text, args, kwargs, *this) : call(tensors, args, kwargs);
    }
    KERF_TRY(Value result, shapeOps().call(target, args, kwargs));
    if (op == nullptr) return result;
    const bool flows = gradModes().grad && gradientOf(*op) != nothingFlows && op->schema.name != "aten::detach";
    const bool requiresGrad =
        flows && (std::ranges::any_of(args, anyRequiresGrad) ||
                  std::ranges::any_of(kwargs, [](const auto& entry) { return anyRequiresGrad(entry.second); }));
    return withGrad(result, requiresGrad);
  }
  Result<Value> callHigherOrder(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs,
                                const SubgraphCaller& subgraphs) const override {
    return callsWithoutRow().higherOrder(target.text, args, kwargs, subgraphs, *this, true);
  }
};

struct Namespace {
  std::string_view prefix;
  std::string_view start;  ///< what names in it begin with in ATen
};
constexpr Namespace namespaces[] = {
    {"torch._C._nn.", ""},          {"torch._C._linalg.", ""},
    {"torch._C._fft.", ""},         {"torch._C._special.", ""},
    {"torch.linalg.", "linalg_"},   {"torch.fft.", "fft_"},
    {"torch.special.", "special_"}, {"torch.Tensor.", ""},
    {"torch.nn.functional.", ""},   {"torch.", ""},
};

/// torch.embedding takes its arguments in ATen's order, torch.nn.functional.embedding in another one.
std::string_view atenOrder(std::string_view name) {
  return name == "torch.embedding" ? "torch.ops.aten.embedding.default" : name;
}

}  // namespace

const std::set<std::string, std::less<>>& functionNames() {
  static const auto names = [] {
    std::set<std::string, std::less<>> all;
    for (const OpInfo& op : allOps())
      if (op.schema.name.starts_with("aten::")) all.insert(op.schema.name.substr(6));
    return all;
  }();
  return names;
}

const std::set<std::string, std::less<>>& methodNames() {
  static const auto names = [] {
    std::set<std::string, std::less<>> all;
    for (const OpInfo& op : allOps())
      if (op.schema.name.starts_with("aten::") && !op.schema.arguments.empty() &&
          op.schema.arguments[0].name == "self" && op.schema.arguments[0].type.starts_with("Tensor"))
        all.insert(op.schema.name.substr(6));
    return all;
  }();
  return names;
}

std::string callableOf(PyObject* object) {
  const Builtin* builtin = builtinOf(object);
  return builtin ? builtin->qualified : std::string();
}

bool isBuiltinName(std::string_view name) {
  for (const Namespace& space : namespaces)
    if (name.starts_with(space.prefix))
      return functionNames().contains(std::string(space.start) + std::string(name.substr(space.prefix.size())));
  return false;
}

Result<Value> callTorch(std::string_view name, const ValueList& args, const KeywordValues& kwargs, OpMode mode) {
  static const FakeOps fake;
  const OpCaller& ops = mode == OpMode::Fake ? static_cast<const OpCaller&>(fake) : eagerOps();
  const std::string target(atenOrder(name));
  return ops.call(target, args, kwargs);
}

}  // namespace kerf::inline torch_api
