// Runs, and when two of them agree.
#include <cstring>

#include "engine/accuracy/same_two_models.h"
#include "engine/ir/interpreter.h"
#include "engine/ops/core/op_registry.h"
#include "engine/ops/random/state.h"
#include "tests/differential/fuzzgraph/checks.h"

namespace kerf::fuzzgraph {
namespace {

void collect(const Value& value, std::vector<Tensor>& tensors) {
  if (value.isTensor() && value.tensor().defined()) tensors.push_back(value.tensor());
  if (value.isList())
    for (const Value& item : value.list()) collect(item, tensors);
}

std::vector<Tensor> tensorsOf(const RunResult& result) {
  std::vector<Tensor> tensors;
  collect(result.outputs, tensors);
  collect(Value(result.inputs), tensors);
  return tensors;
}

std::string layoutOf(const Tensor& t) {
  return fmt::format("sizes [{}] strides [{}]", fmt::join(t.sizes(), ","), fmt::join(t.strides(), ","));
}

bool sameStrides(const Tensor& a, const Tensor& b) {
  if (a.numel() == 0) return true;
  for (std::int64_t d = 0; d < a.dim(); ++d)
    if (a.size(d) > 1 && a.stride(d) != b.stride(d)) return false;
  return true;
}

std::optional<Disagreement> layoutDisagreement(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  if (a.size() != b.size()) return Disagreement{"", "values", "another number of tensors"};
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].dtype() != b[i].dtype() || a[i].sizes() != b[i].sizes())
      return Disagreement{"", "values",
                          fmt::format("tensor {}: {} {} and {} {}", i, dtypeInfo(a[i].dtype()).shortCode,
                                      layoutOf(a[i]), dtypeInfo(b[i].dtype()).shortCode, layoutOf(b[i]))};
    if (!sameStrides(a[i], b[i]))
      return Disagreement{"", "strides", fmt::format("tensor {}: {}, compiled {}", i, layoutOf(a[i]), layoutOf(b[i]))};
  }
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (a[i].numel() > 0 && a[j].numel() > 0 &&
          (a[i].storage() == a[j].storage()) != (b[i].storage() == b[j].storage()))
        return Disagreement{"", "aliases",
                            fmt::format("tensors {} and {} share memory {}", j, i,
                                        a[i].storage() == a[j].storage() ? "in the reference only" : "compiled only")};
  return {};
}

Value whole(const RunResult& result) { return Value(ValueList{result.outputs, Value(result.inputs)}); }

bool identicalTensors(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.sizes() != b.sizes() || a.strides() != b.strides()) return false;
  const auto x = a.contiguous(), y = b.contiguous();
  return x && y &&
         (x->numel() == 0 ||
          std::memcmp(x->storage()->data() + x->offset() * itemSize(a.dtype()),
                      y->storage()->data() + y->offset() * itemSize(b.dtype()), std::size_t(x->byteSize())) == 0);
}

/// Tensors of one dtype in a value as another.
Result<Value> converted(const Value& value, DType from, DType to) {
  if (value.isTensor() && value.tensor().defined() && value.tensor().dtype() == from)
    return referenceOps().call("prims.convert_element_type.default"_op, {value, Value(to)}, {});
  if (!value.isList()) return value;
  ValueList items;
  for (const Value& item : value.list()) {
    KERF_TRY(Value one, converted(item, from, to));
    items.push_back(std::move(one));
  }
  return Value(std::move(items));
}

/// Float64, but for ops that PyTorch has in bfloat16 alone: these run on their operands in that, and the rest of the graph
/// still has a reference.
class MostlyFp64 : public OpCaller {
 public:
  Result<Value> call(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs) const override {
    if (target.text.find("_grouped_mm") == std::string_view::npos) return referenceOps().call(target, args, kwargs);
    KERF_TRY(const Value given, converted(Value(args), DType::Float64, DType::BFloat16));
    KERF_TRY(const Value result, referenceOps().call(target, given.list(), kwargs));
    return converted(result, DType::BFloat16, DType::Float64);
  }
  Result<Value> callHigherOrder(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs,
                                const SubgraphCaller& subgraphs) const override {
    return referenceOps().callHigherOrder(target, args, kwargs, subgraphs);
  }
};

}  // namespace

bool identical(const Value& a, const Value& b) {
  std::vector<Tensor> x, y;
  collect(a, x);
  collect(b, y);
  if (x.size() != y.size()) return false;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!identicalTensors(x[i], y[i])) return false;
  return true;
}

Result<RunResult> interpreted(const GraphModule& module, const ValueList& inputs, bool toFp64) {
  GraphModule cast;
  if (toFp64) {
    KERF_TRY(cast, castToFp64(module));
  }
  KERF_TRY(ValueList clones, cloneInputs(inputs, toFp64));
  const RandomScope random;
  const MostlyFp64 mostlyFp64;
  const OpCaller& ops = toFp64 ? static_cast<const OpCaller&>(mostlyFp64) : referenceOps();
  KERF_TRY(Value outputs, Interpreter(toFp64 ? cast : module, ops).run(clones));
  return RunResult{std::move(outputs), std::move(clones)};
}

std::optional<Disagreement> disagreement(const RunResult& reference, const RunResult& result,
                                         const std::optional<RunResult>& fp64) {
  const SameReport report =
      same(whole(reference), whole(result), fp64 ? whole(*fp64) : Value(), CompareOptions{}.sameOptions());
  for (const OutputVerdict& verdict : report.outputs)
    if (!verdict.same)
      return Disagreement{"", "values",
                          fmt::format("{}: {}; largest error {}, ratio {}", verdict.name, verdict.reason,
                                      verdict.maxAbsError, verdict.ratioToLimit)};
  return layoutDisagreement(tensorsOf(reference), tensorsOf(result));
}

}  // namespace kerf::fuzzgraph
