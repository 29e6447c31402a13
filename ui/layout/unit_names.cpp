// What a stretch of calls without module names is called: by what it does, "3 × conv + norm + activation".
#include <algorithm>
#include <array>
#include <string_view>

#include "ui/layout/repeats.h"

namespace kerf::ui::inline layout {
namespace {

using workbench::GraphDoc, workbench::NodeDoc, workbench::NodeKind;

struct Role {
  std::string_view name;
  bool anchor;  ///< what a unit is counted by
  std::array<std::string_view, 12> ops;
};

/// In the order in which one that fits is taken.
constexpr Role roles[] = {
    {"attention", true, {"scaled_dot_product", "flex_attention", "multi_head_attention"}},
    {"embedding", true, {"embedding"}},
    {"conv", true, {"convolution", "conv1d", "conv2d", "conv3d", "conv_transpose"}},
    {"matmul", true, {"addmm", "mm", "bmm", "baddbmm", "linear", "matmul", "einsum"}},
    {"norm", false, {"layer_norm", "batch_norm", "group_norm", "rms_norm", "var_mean", "rsqrt", "sqrt"}},
    {"softmax", false, {"softmax"}},
    {"pool", false, {"max_pool", "avg_pool"}},
    {"dropout", false, {"dropout", "rand", "bernoulli"}},
    {"loss", false, {"nll_loss", "mse_loss", "cross_entropy"}},
    {"activation", false, {"relu", "silu", "gelu", "sigmoid", "tanh", "erf", "hardtanh", "hardswish", "elu", "relu6"}},
    {"sum", false, {"sum", "mean"}},
};

/// Short words are whole names ("mm", "mm.out"); longer ones may be parts ("native_layer_norm").
bool fits(const Role& role, std::string_view op) {
  constexpr std::size_t shortest = 5;
  return std::ranges::any_of(role.ops, [&](std::string_view word) {
    if (word.empty()) return false;
    if (word.size() >= shortest) return op.find(word) != std::string_view::npos;
    return op == word || (op.starts_with(word) && op[word.size()] == '.');
  });
}

const Role* roleOf(const NodeDoc& node) {
  const auto found = std::ranges::find_if(roles, [&](const Role& role) { return fits(role, node.op); });
  return found == std::end(roles) ? nullptr : &*found;
}

}  // namespace

bool beginsUnit(const NodeDoc& node) {
  const auto* role = roleOf(node);
  return role != nullptr && role->anchor;
}

std::string spanName(const GraphDoc& graph, const std::vector<int>& nodes, int begin, int end) {
  constexpr std::size_t most = 3;
  std::vector<const Role*> met;
  int anchors = 0;
  const Role* first = nullptr;
  for (int i = begin; i < end; ++i) {
    const auto* role = roleOf(graph.nodes[std::size_t(nodes[std::size_t(i)])]);
    if (role == nullptr) continue;
    if (role->anchor && first == nullptr) first = role;
    anchors += role == first && role->anchor;
    if (std::ranges::find(met, role) == met.end()) met.push_back(role);
  }
  std::ranges::stable_sort(met, std::ranges::greater(), &Role::anchor);
  if (met.size() > most) met.resize(most);
  std::string name = anchors > 1 ? std::to_string(anchors) + " × " : "";
  for (const auto* role : met) name += (role == met.front() ? "" : " + ") + std::string(role->name);
  if (!met.empty()) return name;
  const auto op = [&](int at) { return graph.nodes[std::size_t(nodes[std::size_t(at)])].op; };
  return op(begin) + " … " + op(end - 1);
}

}  // namespace kerf::ui::inline layout
