#include "engine/partition/op_classes.h"

#include <mutex>
#include <unordered_map>

#include "engine/ops/core/op_registry.h"

namespace kerf::inline partition {

namespace {

using enum OpClass;

struct ClassRow {
  OpClass classes;
  std::initializer_list<std::string_view> packets;
};

constexpr OpClass view = Recomputable | View;

/// Beside these, everything with the trait Pointwise and Python's operators on symbolic numbers are recomputable.
const ClassRow table[] = {
    {view,
     {"aten.squeeze", "aten.unsqueeze", "aten.alias", "aten.view", "aten.slice", "aten.t", "prims.broadcast_in_dim",
      "aten.expand", "aten.as_strided", "aten.permute", "aten.select", "aten.split"}},
    {Recomputable,  // element by element, whatever traits our rows have
     {"aten.add",         "aten.sub",        "aten.div",        "aten.atan2",
      "aten.mul",         "aten.pow",        "aten.remainder",  "aten.fmod",
      "aten.__and__",     "aten.__or__",     "aten.__xor__",    "aten.__lshift__",
      "aten.eq",          "aten.__rshift__", "aten.ne",         "aten.ge",
      "aten.gt",          "aten.le",         "aten.lt",         "aten.abs",
      "aten.bitwise_not", "aten.ceil",       "aten.floor",      "aten.frac",
      "aten.neg",         "aten.relu",       "aten.round",      "aten.silu",
      "aten.trunc",       "aten.log",        "aten.log10",      "aten.log1p",
      "aten.log2",        "aten.lgamma",     "aten.exp",        "aten.expm1",
      "aten.erf",         "aten.erfc",       "aten.cos",        "aten.acos",
      "aten.cosh",        "aten.sin",        "aten.asin",       "aten.sinh",
      "aten.tan",         "aten.atan",       "aten.tanh",       "aten.atanh",
      "aten.sqrt",        "aten.rsqrt",      "aten.reciprocal", "aten.sigmoid",
      "aten.clamp",       "aten.softplus",   "aten.threshold",  "aten.where",
      "aten.lerp",        "aten.addcmul",    "aten.gelu",       "aten.threshold_backward",
      "aten.rsub",        "aten.isinf",      "aten.maximum",    "aten.gelu_backward",
      "prims.div"}},
    {Recomputable,  // reductions
     {"aten.sum", "aten.mean", "aten.amax", "aten.max", "aten.min", "aten.var", "aten.std", "aten.var_mean", "aten.any",
      "aten.argmax", "aten._grad_sum_to_size", "aten.sum_to_size", "prims.var", "prims.sum"}},
    {Recomputable,  // copies, conversions and new tensors
     {"aten.to",
      "aten.type_as",
      "aten._to_copy",
      "prims.convert_element_type",
      "aten.clone",
      "aten.full_like",
      "aten._unsafe_view",
      "aten.reshape",
      "aten.broadcast_tensors",
      "aten.scalar_tensor",
      "aten.ones",
      "aten.new_zeros",
      "aten.arange",
      "aten.triu",
      "aten.full",
      "aten.zeros",
      "aten.zeros_like",
      "aten.empty",
      "aten.empty_like",
      "prims.iota"}},
    {Recomputable, {"aten.index", "aten.gather", "prims._low_memory_max_pool_offsets_to_indices"}},
    {Recomputable | Lift, {"aten.lift_fresh_copy"}},
    {Lift, {"aten.lift_fresh"}},
    {Recomputable | Getitem, {"operator.getitem"}},
    {Random, {"aten.native_dropout", "aten.rand_like", "aten.randn_like"}},
    {Heavy,
     {"aten.mm", "aten.convolution", "aten.convolution_backward", "aten.bmm", "aten.addmm",
      "aten._scaled_dot_product_flash_attention", "aten._scaled_dot_product_efficient_attention",
      "aten._flash_attention_forward", "aten._efficient_attention_forward", "aten.upsample_bilinear2d",
      "aten._scaled_mm"}},
    {Concat, {"aten.cat"}},
};

using PacketClasses = std::unordered_map<std::string_view, OpClass>;

PacketClasses packetClasses() {
  PacketClasses classes;
  for (const ClassRow& row : table)
    for (const std::string_view packet : row.packets) classes[packet] = classes[packet] | row.classes;
  return classes;
}

/// An op is pointwise for the partitioner when any of its overloads is.
PacketClasses pointwisePackets() {
  PacketClasses packets;
  for (const OpInfo& op : allOps()) {
    const std::string_view name = opName(op.id);
    if (has(op.traits, OpTrait::Pointwise) && !has(op.traits, OpTrait::Inplace | OpTrait::Random))
      packets[name.substr(0, name.rfind('.'))] = Recomputable;
  }
  return packets;
}

/// Symbolic sizes are computed with Python's own functions.
bool isSymbolicMath(std::string_view packet) {
  return packet.starts_with("operator.") || packet.starts_with("torch.sym_") || packet.starts_with("math.");
}

OpClass classesOf(std::string_view packet, const Node& node) {
  static const PacketClasses listed = packetClasses(), pointwise = pointwisePackets();
  const auto found = listed.find(packet);
  OpClass classes = found == listed.end() ? None : found->second;
  if (packet.starts_with("aten.") && pointwise.contains(packet)) classes = classes | Recomputable;
  if (isSymbolicMath(packet)) classes = classes | Recomputable;
  if (packet.starts_with("_c10d_functional.")) classes = classes | Collective;
  const OpInfo* op = findOp(node);
  if (op != nullptr && has(op->traits, OpTrait::Random)) classes = classes | Random;
  return classes;
}

}  // namespace

std::string_view packetName(const Node& node) {
  const std::string_view name = opName(node.opId());
  if (!name.starts_with("aten.") && !name.starts_with("prims.") && !name.starts_with("_c10d_functional.")) return name;
  const std::size_t dot = name.rfind('.');
  return dot > name.find('.') ? name.substr(0, dot) : name;
}

OpClass opClassOf(const Node& node) {
  if (node.op() != Opcode::CallFunction || !node.opId()) return None;
  static std::mutex mutex;
  static std::unordered_map<OpId, OpClass> known;
  const std::lock_guard lock(mutex);
  const auto [entry, isNew] = known.try_emplace(node.opId(), None);
  if (isNew) entry->second = classesOf(packetName(node), node);
  return entry->second;
}

}  // namespace kerf::inline partition
