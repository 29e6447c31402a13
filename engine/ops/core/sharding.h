// Sharding rules: how a call's result may be placed on a device mesh given how its arguments are, in DTensor's terms.
#pragma once

#include <cstdint>

namespace kerf::inline ops {

enum class ShardingKind : std::uint8_t {
  None,
  Pointwise,        ///< every dimension may be sharded, alike in all (broadcast) operands
  LinearPointwise,  ///< and Partial(sum) operands give a Partial(sum) result
  Reduction,        ///< kept dimensions stay sharded; a sharded dimension that is reduced gives Partial(text)
  Einsum,           ///< `text` is the equation: a letter of the result shards it, a contracted one gives Partial(sum)
};

struct ShardingRule {
  ShardingKind kind = ShardingKind::None;
  const char* text = nullptr;
  explicit operator bool() const { return kind != ShardingKind::None; }
};

}  // namespace kerf::inline ops
