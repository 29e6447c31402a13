// Training mode: an exported program has the mode of its model written into its calls; here it is changed, as
// torch.ao.quantization.move_exported_model_to_train does.
#pragma once

#include <cstddef>

#include "engine/ir/graph_module.h"

namespace kerf::inline autograd {

/// Sets the training flags of batch norms, dropouts and instance norms; returns how many calls changed. Batch norms in
/// ATen's inference form (`_native_batch_norm_legit_no_training`) take the statistics of their batch afterwards, and
/// leave the running ones alone.
std::size_t setTrainingMode(GraphModule& module, bool training);

}  // namespace kerf::inline autograd
