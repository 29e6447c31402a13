#include "engine/pipeline/dtype_module.h"

#include <unordered_set>

#include "engine/accuracy/same_two_models.h"
#include "engine/ir/transformer.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::inline pipeline {
namespace {

bool isCastable(const Argument& argument) {
  const DType* dtype = argument.as<DType>();
  return dtype && isFloating(*dtype) && *dtype != DType::Float64;
}

/// Calls that name a floating dtype, with `dtype` in its place.
class DtypeCast : public Transformer {
 public:
  DtypeCast(const GraphModule& module, DType dtype)
      : Transformer(module), m_dtype(dtype), m_untyped(untypedOuts(module.graph)) {}

 protected:
  Result<Argument> callFunction(const Node& node, ArgumentList args, KeywordArguments kwargs) override {
    if (node.isCall("prims.convert_element_type.default"_op) && args.size() == 2 && isCastable(args[1]))
      args[1] = Argument(m_dtype);
    for (auto& [name, value] : kwargs)
      if (name == "dtype" && isCastable(value)) value = Argument(m_dtype);
    if (m_untyped.contains(node.id())) kwargs.emplace_back("dtype", Argument(m_dtype));
    return Transformer::callFunction(node, std::move(args), std::move(kwargs));
  }

 private:
  DType m_dtype;
  std::unordered_set<NodeId> m_untyped;
};

Result<CastGraph> castNarrow(const GraphModule& module, const ValueList& inputs, DType dtype) {
  KERF_TRY(GraphModule transformed, DtypeCast(module, dtype).transform());
  CastGraph cast{std::move(transformed), inputs};
  for (Value& value : cast.inputs) {
    if (!value.isTensor() || !isFloating(value.tensor().dtype())) continue;
    KERF_TRY(Tensor converted, value.tensor().to(dtype));
    value = std::move(converted);
  }
  for (auto& [path, attribute] : cast.module.attributes.edit()) {
    if (!attribute.tensor.defined() || !isFloating(attribute.tensor.dtype())) continue;
    KERF_TRY(attribute.tensor, attribute.tensor.to(dtype));
  }
  return cast;
}

std::vector<Dim> dims(const Sizes& values) {
  std::vector<Dim> result;
  for (const auto value : values) result.push_back(dim(value));
  return result;
}

void annotatePlaceholders(CastGraph& cast) {
  const auto placeholders = cast.module.graph.placeholders();
  for (std::size_t i = 0; i < placeholders.size() && i < cast.inputs.size(); ++i) {
    const Tensor* tensor = cast.inputs[i].as<Tensor>();
    if (!tensor) continue;
    TensorMeta meta{tensor->dtype(),  dims(tensor->sizes()), dims(tensor->strides()),
                    tensor->offset(), tensor->device(),      tensor->requiresGrad};
    cast.module.graph.setValueMeta(placeholders[i], {std::move(meta)});
  }
}

}  // namespace

Result<CastGraph> castGraph(const GraphModule& module, const ValueList& inputs, DType dtype) {
  CastGraph cast;
  if (dtype == DType::Float64) {
    KERF_TRY(cast.module, castToFp64(module));
    KERF_TRY(cast.inputs, cloneInputs(inputs, true));
  } else {
    KERF_TRY(const ValueList copies, cloneInputs(inputs, false));
    KERF_TRY(cast, castNarrow(module, copies, dtype));
  }
  annotatePlaceholders(cast);
  KERF_CHECK(propagateShapes(cast.module));
  return cast;
}

}  // namespace kerf::inline pipeline
