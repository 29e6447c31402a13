// torch.nn.functional.multi_head_attention_forward. Private to engine/ops.
#pragma once

#include "engine/ops/python/python_level.h"

namespace kerf::inline ops {

/// multi_head_attention_forward(query, key, value, embed_dim, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v,
/// add_zero_attn, dropout_p, out_proj_weight, out_proj_bias, …) with packed weights and without returned weights.
Result<Value> multiHeadAttention(const PythonCall& call);

}  // namespace kerf::inline ops
