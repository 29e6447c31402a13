// torch.autograd.graph.saved_tensors_hooks: what a program makes of the tensors that nodes keep for the way back.
#pragma once

#include <vector>

#include "engine/python/reference.h"
#include "engine/tensor/value.h"

namespace kerf::inline torch_api {

struct SavedTensorHooks {
  Ref pack, unpack;
};
/// The hooks in force, the innermost last.
std::vector<SavedTensorHooks>& savedTensorHooks();

/// What pack() gave for a tensor, and who turns it back.
struct PackedTensor {
  Ref object, unpack;
};

/// Hands the tensors of a value to the innermost hooks; what is left of them has no data.
Result<Value> packValue(const Value& value, std::vector<PackedTensor>& packed);
/// The value with the tensors that unpack() gives, from `packed[next]` on.
Result<Value> unpackValue(const Value& value, const std::vector<PackedTensor>& packed, std::size_t& next);

}  // namespace kerf::inline torch_api
