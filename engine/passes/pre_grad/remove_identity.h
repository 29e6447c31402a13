// Identity removal: layers and calls of a Dynamo graph that give their input are skipped.
//
//     d = torch.nn.functional.dropout(x, 0.1, False); i = self.identity(d); y = i.contiguous(); r = torch.relu(y)
//       →      r = torch.relu(x)
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// Dropout outside of training or with p = 0, nn.Identity, contiguous() of what is, to() of what it has; marks for
/// PyTorch's usage log. Nothing that reads or aliases mutated memory goes, and no output becomes an input.
Pass removeIdentityPass();

}  // namespace kerf::inline passes
