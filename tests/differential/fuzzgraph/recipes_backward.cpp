// Backward ops: gradients have the sizes of what the forward op gives.
#include "tests/differential/fuzzgraph/op_nature.h"
#include "tests/differential/fuzzgraph/recipes.h"

namespace kerf::fuzzgraph {
namespace {

const Sizes& sizesOf(const Operand& operand) { return operand.value.tensor().sizes(); }

Operand listOperand(const Sizes& values) { return CallDraft::listOf(values); }
Operand whole(std::int64_t value) { return CallDraft::constant(Value(value)); }

bool convolutionBackward(CallDraft& draft) {
  const Operand input = draft.floatOfRank(4, {2, 4, 6, 6});
  const std::int64_t channels = sizesOf(input)[1];
  const Operand weight = draft.floats({3, channels, 2, 3});
  const Operand stride = listOperand({draft.dice.between(1, 2), 1}), padding = listOperand({1, 1}),
                dilation = listOperand({1, 1}), zero = listOperand({0, 0});
  const auto output =
      shapeOf("torch.ops.aten.convolution.default", {input.value, weight.value, Value(), stride.value, padding.value,
                                                     dilation.value, Value(false), zero.value, Value(std::int64_t{1})});
  if (!output) return false;
  draft.set("grad_output", draft.floats(output->tensor().sizes()));
  draft.set("input", input);
  draft.set("weight", weight);
  draft.set("bias_sizes", listOperand({3}));
  draft.set("stride", stride);
  draft.set("padding", padding);
  draft.set("dilation", dilation);
  draft.set("transposed", Value(false));
  draft.set("output_padding", zero);
  draft.set("groups", whole(1));
  return true;
}

bool poolBackward(CallDraft& draft) {
  const Operand input = draft.floatOfRank(4, {2, 3, 6, 6});
  const Operand kernel = listOperand({2, 2}), stride = listOperand({2, 1}), padding = listOperand({0, 1});
  const std::string name = plainName(draft.op());
  if (name == "_adaptive_avg_pool2d_backward") {
    draft.set("grad_output", draft.floats({sizesOf(input)[0], sizesOf(input)[1], 2, 3}));
    draft.set("self", input);
    return true;
  }
  const auto output = shapeOf("torch.ops.aten.avg_pool2d.default",
                              {input.value, kernel.value, stride.value, padding.value, Value(false)});
  if (!output) return false;
  draft.set("grad_output", draft.floats(output->tensor().sizes()));
  draft.set("self", input);
  draft.set("kernel_size", kernel);
  draft.set("stride", stride);
  draft.set("padding", padding);
  draft.set("ceil_mode", Value(false));
  draft.set("dilation", listOperand({1, 1}));
  if (draft.has("indices"))
    draft.set("indices", draft.indices(output->tensor().sizes(), sizesOf(input)[2] * sizesOf(input)[3]));
  return true;
}

bool resizeBackward(CallDraft& draft) {
  const std::string name = plainName(draft.op());
  const std::size_t planes = name.find("1d") != name.npos ? 1 : name.find("3d") != name.npos ? 3 : 2;
  Sizes input{2, 3}, output{2, 3};
  for (std::size_t i = 0; i < planes; ++i) {
    input.push_back(draft.dice.between(2, 5));
    output.push_back(draft.dice.between(2, 6));
  }
  draft.set("grad_output", draft.floatOfRank(planes + 2, output));
  const Sizes given = sizesOf(*draft.find("grad_output"));
  draft.setSizes("output_size", Sizes(given.begin() + 2, given.end()));
  input[0] = given[0], input[1] = given[1];
  draft.setSizes("input_size", input);
  return true;
}

bool padBackward(CallDraft& draft) {
  const std::string name = plainName(draft.op());
  const std::size_t planes = name.find("1d") != name.npos ? 1 : name.find("3d") != name.npos ? 3 : 2;
  Sizes input{2, 3}, padding;
  for (std::size_t i = 0; i < planes; ++i) input.push_back(draft.dice.between(3, 5));
  Sizes output = input;
  for (std::size_t i = 0; i < planes * 2; ++i) {
    padding.push_back(draft.dice.between(0, 2));
    output[output.size() - 1 - i / 2] += padding.back();
  }
  draft.set("grad_output", draft.floats(output));
  draft.set("self", draft.floats(input));
  draft.setSizes("padding", padding);
  return true;
}

/// Row statistics of a layer norm go with the gradient.
bool layerNormBackward(CallDraft& draft) {
  const Operand input = draft.floatOfRank(2, {4, 6});
  const std::int64_t rows = sizesOf(input)[0], columns = sizesOf(input)[1];
  draft.set("grad_out", draft.floats(sizesOf(input)));
  draft.set("input", input);
  draft.setSizes("normalized_shape", {columns});
  draft.set("mean", draft.build.fresh(DType::Float32, {rows, 1}, {}, true));
  draft.set("rstd", draft.build.fresh(DType::Float32, {rows, 1}, {0.2, 2}, true));
  draft.set("weight", draft.floats({columns}, {0.2, 2}));
  draft.set("bias", draft.floats({columns}));
  return true;
}

bool batchNormBackward(CallDraft& draft) {
  const Operand input = draft.floatOfRank(4, {2, 3, 4, 4});
  const std::int64_t channels = sizesOf(input)[1];
  draft.set("grad_out", draft.floats(sizesOf(input)));
  draft.set("input", input);
  draft.set("weight", draft.floats({channels}, {0.2, 2}));
  for (const std::string_view name : {"running_mean", "running_var", "save_mean", "save_invstd"})
    draft.set(name, draft.build.fresh(DType::Float32, {channels}, {0.2, 2}, true));
  draft.set("eps", Value(1e-5));
  return true;
}

bool groupNormBackward(CallDraft& draft) {
  const Operand input = draft.floats({2, 4, 3, 3});
  draft.set("grad_out", draft.floats({2, 4, 3, 3}));
  draft.set("input", input);
  draft.set("mean", draft.floats({2, 2}));
  draft.set("rstd", draft.floats({2, 2}, {0.2, 2}));
  draft.set("weight", draft.floats({4}));
  draft.set("N", whole(2));
  draft.set("C", whole(4));
  draft.set("HxW", whole(9));
  draft.set("group", whole(2));
  return true;
}

bool softmaxBackward(CallDraft& draft) {
  const Operand output = draft.floatOfRank(std::size_t(draft.dice.between(1, 3)));
  draft.set("grad_output", draft.floats(sizesOf(output)));
  draft.set("output", output);
  draft.set("dim", whole(-1));
  draft.set("input_dtype", Value(output.value.tensor().dtype()));
  return true;
}

bool embeddingBackward(CallDraft& draft) {
  const Operand gradient = draft.floatOfRank(2, {5, 4});
  draft.set("grad_output", gradient);
  draft.set("indices", draft.indices({sizesOf(gradient)[0]}, 6));
  draft.set("num_weights", whole(6));
  draft.set("padding_idx", whole(-1));
  draft.set("scale_grad_by_freq", Value(draft.dice.chance(30)));
  return true;
}

bool nllBackward(CallDraft& draft) {
  const Operand input = draft.floatOfRank(2, {4, 5});
  const std::int64_t reduction = draft.dice.between(0, 2);
  draft.set("grad_output", draft.floats(reduction == 0 ? Sizes{sizesOf(input)[0]} : Sizes{}));
  draft.set("self", input);
  draft.set("target", draft.indices({sizesOf(input)[0]}, sizesOf(input)[1]));
  draft.set("weight", Operand{});
  draft.set("reduction", whole(reduction));
  draft.set("ignore_index", whole(-100));
  draft.set("total_weight", draft.floats({}, {3, 4}));
  return true;
}

bool viewBackward(CallDraft& draft) {
  const Sizes input{4, 5, 3};
  const std::string name = plainName(draft.op());
  draft.setSizes("input_sizes", input);
  if (name == "diagonal_backward") {
    draft.set("grad_output", draft.floats({3, 4}));
    draft.set("offset", whole(0)), draft.set("dim1", whole(0)), draft.set("dim2", whole(1));
    return true;
  }
  draft.set("dim", whole(1));
  if (name == "select_backward") {
    draft.set("grad_output", draft.floatOfRank(2, {4, 3}));
    draft.set("index", whole(draft.dice.between(-5, 4)));
    return true;
  }
  draft.set("grad_output", draft.floats({4, 3, 3}));
  draft.set("start", whole(1)), draft.set("end", whole(4)), draft.set("step", whole(1));
  return true;
}

/// Losses: the gradient is a number, or one for each element.
bool lossBackward(CallDraft& draft) {
  const Operand input = draft.floats(draft.build.randomSizes(), {0.05, 0.95});
  const std::int64_t reduction = draft.dice.between(0, 2);
  draft.set("grad_output", draft.floats(reduction == 0 ? sizesOf(input) : Sizes{}));
  draft.set("self", input);
  draft.set("target", draft.floats(sizesOf(input), {0.05, 0.95}));
  if (draft.has("weight")) draft.set("weight", Operand{});
  draft.set("reduction", whole(reduction));
  return true;
}

constexpr RecipeRow rows[] = {
    {"convolution_backward", convolutionBackward},
    {"avg_pool2d_backward max_pool2d_with_indices_backward _adaptive_avg_pool2d_backward", poolBackward},
    {"upsample_nearest1d_backward upsample_nearest2d_backward upsample_nearest3d_backward upsample_linear1d_backward "
     "upsample_bilinear2d_backward upsample_trilinear3d_backward upsample_bicubic2d_backward "
     "_upsample_nearest_exact1d_backward _upsample_nearest_exact2d_backward _upsample_nearest_exact3d_backward "
     "_upsample_bilinear2d_aa_backward _upsample_bicubic2d_aa_backward",
     resizeBackward},
    {"reflection_pad1d_backward reflection_pad2d_backward reflection_pad3d_backward replication_pad1d_backward "
     "replication_pad2d_backward replication_pad3d_backward",
     padBackward},
    {"native_layer_norm_backward", layerNormBackward},
    {"native_batch_norm_backward", batchNormBackward},
    {"native_group_norm_backward", groupNormBackward},
    {"_softmax_backward_data _log_softmax_backward_data", softmaxBackward},
    {"embedding_dense_backward", embeddingBackward},
    {"nll_loss_backward", nllBackward},
    {"slice_backward select_backward diagonal_backward", viewBackward},
    {"mse_loss_backward huber_loss_backward smooth_l1_loss_backward binary_cross_entropy_backward "
     "soft_margin_loss_backward",
     lossBackward},
};

}  // namespace

std::span<const RecipeRow> backwardRecipes() { return rows; }

}  // namespace kerf::fuzzgraph
