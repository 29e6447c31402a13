#include "engine/align/rounding_causes.h"

namespace kerf::inline align {

namespace {

struct CauseRow {
  std::string_view word;  ///< in the op's name, or in a kernel's
  RoundingCause cause;
};

constexpr RoundingCause random{"random numbers, drawn anew", 0, true};
constexpr RoundingCause products{"another order of sums in products, or TF32 and other short products", 1e-3, false,
                                 true};
constexpr RoundingCause convolutions{"another algorithm of the convolution, or TF32", 1e-4, false, true};
constexpr RoundingCause atomics{"sums by atomic additions, whose order is not fixed"};
constexpr RoundingCause sums{"another order of sums"};
constexpr RoundingCause functions{"another library's elementary functions"};

// In the order of what makes most of a difference: of a kernel that fuses several, the first counts.
constexpr CauseRow causes[] = {
    {"dropout", random},
    {"bernoulli", random},
    {"rand", random},
    {"normal_", random},
    {"multinomial", random},
    {"addmm", products},
    {"bmm", products},
    {"convolution", convolutions},
    {"conv2d", convolutions},
    {"linear", products},
    {"attention", products},
    {"einsum", products},
    {"matmul", products},
    {".mm", products},
    {"addmv", products},
    {"scatter_add", atomics},
    {"index_put", atomics},
    {"embedding_dense_backward", atomics},
    {"index_add", atomics},
    {"softmax", sums},
    {"norm", sums},
    {"sum", sums},
    {"mean", sums},
    {"var", sums},
    {"cumsum", sums},
    {"std", sums},
    {"logsumexp", sums},
    {"loss", sums},
    {"pool", sums},
    {"exp", functions},
    {"log", functions},
    {"tanh", functions},
    {"gelu", functions},
    {"silu", functions},
    {"sigmoid", functions},
    {"erf", functions},
    {"sin", functions},
    {"cos", functions},
    {"pow", functions},
    {"rsqrt", functions},
    {"sqrt", functions},
    {"div", functions},
    {"reciprocal", functions},
};

/// Whether it is so of the op, or of what the step stands for.
template <class Test>
bool isOfAny(const RunStep& step, Test&& test) {
  return test(step.op) || std::ranges::any_of(step.parts, test);
}

bool says(const RunStep& step, std::string_view word) {
  return isOfAny(step, [&](const std::string& part) { return part.find(word) != std::string::npos; });
}

}  // namespace

RoundingCause roundingCause(const RunStep& step) {
  for (const CauseRow& row : causes)
    if (says(step, row.word)) return row.cause;
  if (step.kernel || step.parts.size() > 1) return {"rounding between fused ops, and fused multiply-add"};
  return {};
}

bool hidesItsValues(const RunStep& step) {
  if (says(step, "backward") || says(step, "log_softmax")) return false;
  return says(step, "softmax") || isOfAny(step, isAttention);
}

bool mayLeaveUnwritten(const RunStep& step) {
  constexpr std::string_view names[] = {"native_batch_norm",
                                        "_native_batch_norm_legit",
                                        "_native_batch_norm_legit_no_training",
                                        "_batch_norm_with_update",
                                        "cudnn_batch_norm",
                                        "miopen_batch_norm",
                                        "_embedding_bag",
                                        "_embedding_bag_forward_only",
                                        "log_sigmoid_forward",
                                        "_cudnn_rnn",
                                        "miopen_rnn"};
  return isAttention(step.op) || std::ranges::find(names, shortOpName(step.op)) != std::end(names);
}

bool isAttention(std::string_view op) {
  const auto says = [op](std::string_view word) { return op.find(word) != std::string_view::npos; };
  return (says("attention") || says("attn")) && !says("backward");
}

bool passesThrough(const RunStep& step) {
  constexpr std::string_view names[] = {"detach",       "alias",      "t",        "transpose", "permute",
                                        "view",         "reshape",    "clone",    "copy",      "squeeze",
                                        "_unsafe_view", "contiguous", "unsqueeze"};
  return !step.kernel && std::ranges::find(names, shortOpName(step.op)) != std::end(names);
}

}  // namespace kerf::inline align
