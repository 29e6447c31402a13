// simplify_all: what the reductions of inputs and arguments do at best, all in one candidate: where the values do not
// matter, one test settles it.
//
//     x: f16[8, 64] random; y = softmax(x, 1, True)      →      x: f32[] = 0; y = softmax(x, -1, False)
#pragma once

#include "minifier/core/reduction.h"
#include "minifier/reductions/dim_classes.h"

namespace kerf::inline minifier::inline reductions {

Reduction simplifyAll();
/// The same, and plainer ops with it, where few calls are left. Of what is plain already, other reductions ask less; in a large graph plain
/// arguments would only stand in the way of shorter ones.
Reduction simplifySmall();
/// How many calls are few.
inline constexpr std::size_t fewCalls = 16;

// simplify_arguments: optional operands become None, list operands get shorter, other arguments become what the schema
// has for their default, or 0 or 1.
//
//     a = layer_norm(x, [8], w, b, 0.1); c = cat([a, y, z], 1)      →      a = layer_norm(x, [8]); c = cat([a])

Reduction simplifyArguments();
/// Every argument that may be left out is.
std::optional<Candidate> allArgumentsPlain(const Candidate& candidate);

// simplify_dtypes: inputs, and what calls convert to, become float32 or int64.
//
//     x: f16; y = _to_copy(x, dtype=bfloat16)      →      x: f32; y = _to_copy(x, dtype=float32)

Reduction simplifyDtypes();
/// All of them at once.
std::optional<Candidate> allUsualDtypes(const Candidate& candidate);

// simplify_ops: a fused op becomes one of the ops it is made of, an elementwise one a plainer one.
//
//     a = addmm(b, x, w)      →      a = mm(x, w)
//     a = gelu(x)             →      a = neg(x)

Reduction simplifyOps();
/// As many plainer ops as the calls allow, until none has one.
std::optional<Candidate> allOpsPlain(const Candidate& candidate);
/// All that simplifyOps() may do in one candidate, of few calls: where only the graph's form matters, one test
/// settles it.
Reduction plainOps();

// simplify_values: an input's values become zeros, ones, or small integers.
//
//     x = [0.73, -1.2]      →      x = [0, 0]

Reduction simplifyValues();
/// Zeros in all inputs.
std::optional<Candidate> allZeros(const Candidate& candidate);

// shrink_dims: a dimension gets the least size with which the graph still fails, in all inputs that have it and in the
// sizes that calls name; data is what the inputs' first elements were.
//
//     x: f32[64, 32]; v = view(x, [64, 4, 8]); return v      →      x: f32[1, 32]; v = view(x, [1, 4, 8]); return v

Reduction shrinkDims();
/// Every dimension of every input 1; none where the calls do not allow that.
std::optional<Candidate> allDimsOne(const Candidate& candidate);
/// Every dimension 1 but those of the class.
std::optional<Candidate> otherDimsOne(const Candidate& candidate, const DimClass& kept);

// merge_inputs: one input takes the place of another.
//
//     a = add(x, y); return a      →      a = add(x, x); return a

Reduction mergeInputs();
/// Every input that can be is another one.
std::optional<Candidate> allInputsMerged(const Candidate& candidate);

}  // namespace kerf::inline minifier::inline reductions
