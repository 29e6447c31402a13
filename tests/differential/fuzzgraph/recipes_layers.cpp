// Arguments of layers: convolutions, pooling, normalization, embedding, attention, padding, resizing.
#include "tests/differential/fuzzgraph/op_nature.h"
#include "tests/differential/fuzzgraph/recipes.h"

namespace kerf::fuzzgraph {
namespace {

/// "avg_pool2d" → 2; `otherwise` without a digit before a d.
std::size_t planesOf(const CallDraft& draft, std::size_t otherwise = 2) {
  const std::string name = plainName(draft.op());
  for (std::size_t i = 1; i < name.size(); ++i)
    if (name[i] == 'd' && name[i - 1] >= '1' && name[i - 1] <= '3') return std::size_t(name[i - 1] - '0');
  return otherwise;
}

Sizes several(CallDraft& draft, std::size_t count, std::int64_t low, std::int64_t high) {
  Sizes result(count);
  for (std::int64_t& item : result) item = draft.dice.between(low, high);
  return result;
}

/// A batch of planes.
Operand image(CallDraft& draft, std::size_t planes) {
  Sizes sizes{draft.dice.between(1, 2), draft.dice.pick<std::int64_t>({1, 2, 4, 6})};
  for (const std::int64_t size : several(draft, planes, planes > 2 ? 3 : 4, planes > 2 ? 5 : 8)) sizes.push_back(size);
  return draft.floatOfRank(planes + 2, sizes);
}

const Sizes& sizesOf(const Operand& operand) { return operand.value.tensor().sizes(); }

void setIfThere(CallDraft& draft, std::string_view name, const Value& value) {
  if (draft.has(name)) draft.set(name, value);
}
void setIfThere(CallDraft& draft, std::string_view name, const Sizes& values) {
  if (draft.has(name)) draft.setSizes(name, values);
}

bool convolution(CallDraft& draft) {
  const bool general = plainName(draft.op()) == "convolution";
  const std::size_t planes = general ? std::size_t(draft.dice.between(1, 2)) : planesOf(draft);
  const Operand input = image(draft, planes);
  const std::int64_t channels = sizesOf(input)[1];
  const bool isDepthwise = draft.dice.chance(25);
  const std::int64_t groups = isDepthwise ? channels : channels % 2 == 0 && draft.dice.chance(30) ? 2 : 1;
  const bool transposed = plainName(draft.op()).starts_with("conv_transpose") || (general && draft.dice.chance(25));
  const std::int64_t outputs = groups * draft.dice.between(1, 3);
  Sizes weight{transposed ? channels : outputs, transposed ? outputs / groups : channels / groups};
  for (const std::int64_t size : several(draft, planes, 1, 3)) weight.push_back(size);
  draft.set("input", input);
  draft.set("weight", draft.floats(weight));
  if (draft.dice.chance(60))
    draft.set("bias", draft.floats({outputs}));
  else
    draft.set("bias", Operand{});
  const bool hasText = draft.op().schema.overload == "padding";
  draft.setSizes("stride", several(draft, planes, 1, hasText ? 1 : 2));
  if (!hasText) draft.setSizes("padding", several(draft, planes, 0, 1));
  draft.setSizes("dilation", several(draft, planes, 1, draft.dice.chance(20) ? 2 : 1));
  draft.set("groups", Value(groups));
  setIfThere(draft, "transposed", Value(transposed));
  setIfThere(draft, "output_padding", Sizes(planes, 0));
  return true;
}

bool pooling(CallDraft& draft) {
  const std::size_t planes = planesOf(draft);
  draft.set("self", image(draft, planes));
  setIfThere(draft, "kernel_size", several(draft, planes, 2, 3));
  setIfThere(draft, "stride", several(draft, planes, 1, 2));
  setIfThere(draft, "padding", several(draft, planes, 0, 1));
  setIfThere(draft, "dilation", Sizes(planes, 1));
  setIfThere(draft, "output_size", several(draft, planes, 1, 4));
  return true;
}

bool padded(CallDraft& draft) {
  const std::size_t planes = planesOf(draft, std::size_t(draft.dice.between(1, 2)));
  draft.set("self", image(draft, planes));
  draft.setSizes(draft.has("pad") ? "pad" : "padding", several(draft, planes * 2, 0, 2));
  return true;
}

bool resized(CallDraft& draft) {
  const std::size_t planes = planesOf(draft);
  const Operand input = image(draft, planes);
  draft.set(draft.has("self") ? "self" : "input", input);
  draft.setSizes("output_size", several(draft, planes, 2, 7));
  if (draft.has("scale_factors")) draft.set("scale_factors", Operand{});
  return true;
}

bool normalization(CallDraft& draft) {
  const Operand input = image(draft, std::size_t(draft.dice.between(1, 2)));
  const std::string_view name = draft.has("self") ? "self" : "input";
  const std::int64_t channels = sizesOf(input)[1];
  draft.set(name, input);
  for (const std::string_view argument : {"weight", "bias", "running_mean", "running_var"})
    if (draft.has(argument)) draft.set(argument, draft.floats({channels}, {0.2, 2}));
  setIfThere(draft, "eps", Value(1e-5));
  setIfThere(draft, "momentum", Value(0.1));
  if (!draft.has("num_groups") && !draft.has("group")) return true;
  std::int64_t rest = 1;
  for (std::size_t d = 2; d < sizesOf(input).size(); ++d) rest *= sizesOf(input)[d];
  setIfThere(draft, "N", Value(sizesOf(input)[0]));
  setIfThere(draft, "C", Value(channels));
  setIfThere(draft, "HxW", Value(rest));
  const std::int64_t groups = channels % 2 == 0 ? 2 : 1;
  setIfThere(draft, "group", Value(groups));
  setIfThere(draft, "num_groups", Value(groups));
  return true;
}

bool layerNorm(CallDraft& draft) {
  const Operand input = draft.floatOfRank(std::size_t(draft.dice.between(1, 4)));
  const Sizes tail(sizesOf(input).end() - 1, sizesOf(input).end());
  draft.set("input", input);
  draft.setSymSizes("normalized_shape", tail);
  for (const std::string_view argument : {"weight", "bias"})
    if (draft.has(argument)) draft.set(argument, draft.dice.chance(80) ? draft.floats(tail, {0.2, 2}) : Operand{});
  setIfThere(draft, "eps", Value(1e-5));
  return true;
}

bool embedding(CallDraft& draft) {
  const Operand weight = draft.floatOfRank(2, {6, 4});
  draft.set("weight", weight);
  const std::int64_t rows = sizesOf(weight)[0];
  draft.set("indices", draft.indices(draft.dice.chance(50) ? Sizes{5} : Sizes{2, 3}, rows));
  setIfThere(draft, "sparse", Value(false));
  if (draft.has("offsets")) {
    draft.set("indices", draft.indices({5}, rows));
    draft.set("offsets", draft.build.fresh(*Tensor::zeros(DType::Int64, {1})));
    draft.set("per_sample_weights", Operand{});
    draft.set("mode", Value(draft.dice.between(0, 2)));
  }
  return true;
}

bool attention(CallDraft& draft) {
  const Sizes sizes{draft.dice.between(1, 2), 2, draft.dice.between(2, 5), draft.dice.pick<std::int64_t>({4, 8})};
  const Operand query = draft.floatOfRank(4, sizes);
  Sizes keys = sizesOf(query);
  keys[2] = draft.dice.between(2, 5);
  draft.set("query", query);
  draft.set("key", draft.floats(keys));
  draft.set("value", draft.floats(keys));
  for (const std::string_view argument : {"attn_mask", "attn_bias", "dropout_mask", "scale"})
    if (draft.has(argument)) draft.set(argument, Operand{});
  setIfThere(draft, "dropout_p", Value(0.0));
  setIfThere(draft, "enable_gqa", Value(false));
  return true;
}

bool gridSample(CallDraft& draft) {
  const std::size_t planes = planesOf(draft);
  const Operand input = image(draft, planes);
  Sizes grid{sizesOf(input)[0]};
  for (const std::int64_t size : several(draft, planes, 2, 4)) grid.push_back(size);
  grid.push_back(std::int64_t(planes));
  draft.set("input", input);
  draft.set("grid", draft.floats(grid, {-1.1, 1.1}));
  draft.set("interpolation_mode", Value(draft.dice.between(0, planes == 2 ? 2 : 1)));
  draft.set("padding_mode", Value(draft.dice.between(0, 2)));
  return true;
}

bool columns(CallDraft& draft) {
  draft.set("self", draft.floatOfRank(4, {2, 3, 6, 6}));
  for (const std::string_view name : {"kernel_size", "dilation", "stride"})
    draft.setSizes(name, several(draft, 2, 1, 2));
  draft.setSizes("padding", several(draft, 2, 0, 1));
  if (!draft.has("output_size")) return true;
  draft.set("self", draft.floats({2, 12, 9}));
  draft.setSizes("output_size", {4, 4});
  draft.setSizes("kernel_size", {2, 2});
  draft.setSizes("dilation", {1, 1});
  draft.setSizes("padding", {0, 0});
  draft.setSizes("stride", {1, 1});
  return true;
}

bool shuffle(CallDraft& draft) {
  draft.set("self", draft.floatOfRank(4, {2, 4, 4, 6}));
  setIfThere(draft, "upscale_factor", Value(std::int64_t{2}));
  setIfThere(draft, "downscale_factor", Value(std::int64_t{2}));
  setIfThere(draft, "groups", Value(std::int64_t{2}));
  return true;
}

bool recurrentCell(CallDraft& draft) {
  const std::string name = plainName(draft.op());
  const std::int64_t gates = name.starts_with("lstm") ? 4 : name.starts_with("gru") ? 3 : 1;
  const Operand input = draft.floatOfRank(2, {3, 4});
  const std::int64_t batch = sizesOf(input)[0], features = sizesOf(input)[1], hidden = 3;
  draft.set("input", input);
  if (gates == 4) {
    const Operand h = draft.floats({batch, hidden}), c = draft.floats({batch, hidden});
    draft.set("hx", Operand{Argument::list({h.argument, c.argument}), Value(ValueList{h.value, c.value})});
  } else {
    draft.set("hx", draft.floats({batch, hidden}));
  }
  draft.set("w_ih", draft.floats({gates * hidden, features}));
  draft.set("w_hh", draft.floats({gates * hidden, hidden}));
  draft.set("b_ih", draft.floats({gates * hidden}));
  draft.set("b_hh", draft.floats({gates * hidden}));
  return true;
}

bool gated(CallDraft& draft) {
  Operand input = draft.floatOfRank(2, {4, 6});
  if (sizesOf(input).back() % 2 != 0) input = draft.floats({3, 4});
  draft.set("self", input);
  draft.set("dim", Value(std::int64_t{-1}));
  return true;
}

bool prelu(CallDraft& draft) {
  const Operand input = draft.floatOfRank(std::size_t(draft.dice.between(2, 4)));
  const std::int64_t channels = sizesOf(input)[1];
  Sizes weight{channels};
  if (plainName(draft.op()) == "_prelu_kernel") {
    weight.assign(sizesOf(input).size(), 1);
    weight[1] = channels;
  }
  draft.set("self", input);
  draft.set("weight", draft.floats(weight));
  return true;
}

constexpr RecipeRow rows[] = {
    {"convolution conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d", convolution},
    {"avg_pool1d avg_pool2d avg_pool3d max_pool1d max_pool2d max_pool3d max_pool2d_with_indices "
     "max_pool3d_with_indices adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d _adaptive_avg_pool2d "
     "_adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d "
     "_low_memory_max_pool_with_offsets",
     pooling},
    {"reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d replication_pad3d "
     "constant_pad_nd _pad_circular pad",
     padded},
    {"upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_linear1d upsample_bilinear2d "
     "upsample_trilinear3d upsample_bicubic2d _upsample_nearest_exact1d _upsample_nearest_exact2d "
     "_upsample_nearest_exact3d _upsample_bilinear2d_aa _upsample_bicubic2d_aa",
     resized},
    {"native_batch_norm _native_batch_norm_legit _native_batch_norm_legit_no_training batch_norm "
     "_batch_norm_with_update instance_norm native_group_norm group_norm",
     normalization},
    {"native_layer_norm layer_norm rms_norm _fused_rms_norm", layerNorm},
    {"embedding _embedding_bag _embedding_bag_forward_only", embedding},
    {"scaled_dot_product_attention _scaled_dot_product_attention_math _scaled_dot_product_flash_attention "
     "_scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_efficient_attention "
     "_scaled_dot_product_cudnn_attention _scaled_dot_product_fused_attention_overrideable "
     "_scaled_dot_product_attention_math_for_mps",
     attention},
    {"grid_sampler grid_sampler_2d grid_sampler_3d _grid_sampler_2d_cpu_fallback", gridSample},
    {"im2col col2im", columns},
    {"pixel_shuffle pixel_unshuffle channel_shuffle", shuffle},
    {"lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell", recurrentCell},
    {"glu", gated},
    {"prelu _prelu_kernel", prelu},
};

}  // namespace

std::span<const RecipeRow> layerRecipes() { return rows; }

}  // namespace kerf::fuzzgraph
