// Example inputs and checks of the attention forms.
#include "engine/patterns/attention_patterns.h"

#include <algorithm>
#include <utility>

#include "engine/patterns/attention_forms.h"
#include "engine/patterns/example_meta.h"
#include "engine/tensor/dtype.h"

namespace kerf::inline patterns {

namespace {

using Mask = AttentionForm::Mask;
using Layout = AttentionForm::Layout;

/// One variant of a form: which inputs it is traced with.
struct Variant {
  const AttentionForm& form;
  DType dtype = DType::Float32;
  bool singleBatch = false;  ///< another trace: a batch of one needs no copies before bmm
  bool floatMask = false;    ///< float16 scores, float32 mask
};

std::string_view textOf(DType dtype) { return dtypeInfo(dtype).shortCode; }

TensorMeta operandExample(const Variant& variant) {
  TensorMeta example = exampleMeta(variant.dtype, {variant.singleBatch ? 1 : 2, 4, 8, 16});
  if (variant.form.layout == Layout::ThreeDims) example = exampleMeta(variant.dtype, {1024, 128, 128});
  if (variant.form.number == 28) example = exampleMeta(variant.dtype, {2, 6, 16, 8}, {2304, 128, 1, 16});
  example.requiresGrad = true;
  return example;
}

/// Masks of forms whose operands are multiplied as they are have the scores' last two sizes; others [batch, 1, 1,
/// keys].
TensorMeta maskExample(const Variant& variant, bool causal) {
  const AttentionForm& form = variant.form;
  const std::int64_t batch = variant.singleBatch ? 1 : 2;
  const bool alwaysFloat = (form.number >= 21 && form.number <= 24) || form.number == 19 || variant.floatMask;
  const DType dtype = causal ? DType::Bool : alwaysFloat ? DType::Float32 : variant.dtype;
  if (form.mask == Mask::Filled) return exampleMeta(dtype, {batch, 4});
  if (form.layout != Layout::HeadsSecond) return exampleMeta(dtype, {1, 1, 8, 8});
  return exampleMeta(dtype, {batch, 1, 1, 4});
}

PatternInputs exampleInputs(const Variant& variant) {
  const AttentionForm& form = variant.form;
  PatternInputs inputs;
  for (const char* name : {"query", "key", "value"}) inputs.push_back({name, operandExample(variant), {}});
  if (form.mask == Mask::Causal || form.mask == Mask::CausalAndAdded)
    inputs.push_back({"causal_mask", maskExample(variant, true), {}});
  if (form.mask != Mask::None && form.mask != Mask::Causal)
    inputs.push_back({"attn_mask", maskExample(variant, false), {}});
  if (!form.scaleIsNumber && !scaleName(form).empty())
    inputs.push_back({std::string(scaleName(form)), exampleMeta(variant.dtype, {}), {}});
  return inputs;
}

/// Numbers that no trace has by itself.
ScalarWorkaround scalars(const AttentionForm& form) {
  ScalarWorkaround result;
  if (form.scaleIsNumber) result.emplace_back(scaleName(form), 0.66666);
  if (form.dropout) result.emplace_back("dropout_p", 0.113377);
  return result;
}

const Node* nodeOf(const MatchContext& context, const Argument* argument) {
  const NodeId* id = argument == nullptr ? nullptr : argument->as<NodeId>();
  return id == nullptr ? nullptr : &context.module.graph.node(*id);
}

/// The first matched call of `op`; null where there is none.
const Node* firstCall(const MatchContext& context, OpId op) {
  for (const NodeId id : context.match.nodes)
    if (const Node& node = context.module.graph.node(id); node.isCall(op)) return &node;
  return nullptr;
}

std::string refusedMask(const MatchContext& context, const TensorMeta& query) {
  const Node* add = firstCall(context, "aten.add.Tensor"_op);
  if (add == nullptr) return {};
  const Node* mask = add->args().size() > 1 ? nodeOf(context, &add->args()[1]) : nullptr;
  if (mask == nullptr) return fmt::format("{} adds a number, no mask", add->name());
  const TensorMeta* tensor = mask->meta().value.tensor();
  if (tensor == nullptr) return fmt::format("the mask {} is not a tensor of known shape", mask->name());
  if (tensor->dtype != query.dtype && tensor->dtype != DType::Bool && tensor->dtype != DType::Float32)
    return fmt::format("the mask {} is {}, the query {}", mask->name(), textOf(tensor->dtype), textOf(query.dtype));
  if (!(tensor->device == query.device))
    return fmt::format("the mask {} is on another device than the query", mask->name());
  return tensor->sizes.empty() ? fmt::format("the mask {} is a single number", mask->name()) : "";
}

/// Inductor's _sfdp_params_check: one dtype, one device; float32 on CUDA stays as it is unless TF32 is allowed, which
/// is not the default.
std::string refusedParameters(const MatchContext& context) {
  const TensorMeta* metas[3];
  std::string dtypes;
  for (std::size_t i = 0; const char* name : {"query", "key", "value"}) {
    const Node* node = nodeOf(context, context.match.find(name));
    metas[i] = node == nullptr ? nullptr : node->meta().value.tensor();
    if (metas[i] == nullptr) return fmt::format("{} is not a tensor of known shape", name);
    dtypes += fmt::format("{}{}", i == 0 ? "" : ", ", textOf(metas[i]->dtype));
    ++i;
  }
  const TensorMeta &query = *metas[0], &key = *metas[1], &value = *metas[2];
  if (query.dtype != key.dtype || query.dtype != value.dtype)
    return fmt::format("query, key and value are of different dtypes ({})", dtypes);
  if (!(query.device == key.device) || !(query.device == value.device))
    return "query, key and value are on different devices";
  if (query.device.type == "cuda" && query.dtype == DType::Float32)
    return "query is float32 on CUDA, where Inductor fuses attention only if TF32 is allowed "
           "(torch.set_float32_matmul_precision)";
  return refusedMask(context, query);
}

std::string refusedScale(const MatchContext& context, OpId op) {
  const Node* call = firstCall(context, op);
  if (call == nullptr || call->args().size() < 2) return {};
  const Argument& scale = call->args()[1];
  if (scale.as<double>() != nullptr || scale.as<std::int64_t>() != nullptr) return {};
  return fmt::format("{} scales by a tensor, attention takes a number", call->name());
}

ExtraCheck extraCheck(const AttentionForm& form) {
  if (form.check == AttentionForm::Check::None) return {};
  const bool multiplies = form.scale == AttentionForm::Scale::MultiplyScores;
  const OpId op = multiplies ? "aten.mul.Tensor"_op : "aten.div.Tensor"_op;
  const bool numberOnly = form.check == AttentionForm::Check::ScaleIsNumber, notOnCuda = form.notOnCuda;
  return [op, numberOnly, notOnCuda](const MatchContext& context) -> std::string {
    const Node* query = nodeOf(context, context.match.find("query"));
    const TensorMeta* tensor = query == nullptr ? nullptr : query->meta().value.tensor();
    if (notOnCuda && tensor != nullptr && tensor->device.type == "cuda")
      return "Inductor does not use this pattern on CUDA (accuracy)";
    if (numberOnly)
      if (std::string refused = refusedScale(context, op); !refused.empty()) return refused;
    return refusedParameters(context);
  };
}

std::string variantName(const Variant& variant) {
  return fmt::format("sfdp_pattern_{}{}{}{}", variant.form.number, variant.dtype == DType::Float16 ? "_half" : "",
                     variant.floatMask ? "_mask_fp32" : "", variant.singleBatch ? "_bs1" : "");
}

void addRules(std::vector<ReplacementRule>& rules, const Variant& variant) {
  ReplacementRule training{.name = variantName(variant) + "_training",
                           .description = describe(variant.form),
                           .search = attentionSearch(variant.form),
                           .replace = attentionReplacement(variant.form),
                           .exampleInputs = exampleInputs(variant),
                           .trace = PatternTrace::JointFwdBwd,
                           .extraCheck = extraCheck(variant.form),
                           .scalarWorkaround = scalars(variant.form),
                           .skipDuplicates = true};
  AttentionForm evaluated = variant.form;
  evaluated.dropout = false;
  ReplacementRule inference = training;
  inference.name = variantName(variant) + "_inference";
  inference.description = describe(evaluated);
  inference.search = attentionSearch(evaluated);
  inference.replace = attentionReplacement(evaluated);
  inference.trace = PatternTrace::FwdOnly;
  inference.scalarWorkaround = scalars(evaluated);
  rules.push_back(std::move(training));
  rules.push_back(std::move(inference));
}

/// Forms that Inductor traces with a batch of one too.
bool hasSingleBatch(int number) {
  constexpr int numbers[] = {16, 18, 21, 22, 23, 25, 26, 27};
  return std::ranges::find(numbers, number) != std::end(numbers);
}

}  // namespace

std::vector<ReplacementRule> attentionRules() {
  std::vector<ReplacementRule> rules;
  for (const DType dtype : {DType::Float32, DType::Float16}) {
    for (const AttentionForm& form : attentionForms()) {
      addRules(rules, {form, dtype});
      if (hasSingleBatch(form.number)) addRules(rules, {form, dtype, true});
    }
    if (dtype == DType::Float32) continue;
    for (const bool singleBatch : {false, true}) addRules(rules, {attentionForms()[15], dtype, singleBatch, true});
  }
  return rules;
}

}  // namespace kerf::inline patterns
